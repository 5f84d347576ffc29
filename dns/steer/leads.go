package steer

// Leads tells where a partner's clients are sent: to which site, and whether the partner is a
// shadow, by whose networks nobody is steered. Of an unknown partner the site is "".
func (p *Policy) Leads(name string) (site string, shadow bool) {
	for _, partner := range p.partners {
		if partner.Name == name {
			return p.places[partner.site].name, partner.shadow
		}
	}
	return "", false
}
