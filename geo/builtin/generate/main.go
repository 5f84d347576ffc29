// Generate makes the built-in country database, geo/builtin/country.mmdb.gz. In the root of the module:
//
//	go run ./geo/builtin/generate          # npm fetches the newest data
//	go run ./geo/builtin/generate -from F  # or from a database of that package
//
// The data is npm's @ip-location-db/geo-whois-asn-country-mmdb (see NOTICE), whose flat records become the continent, country
// and location of the GeoIP2 City schema: each country lies in the middle of its addresses. Equal data gives an equal file.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"
	"github.com/oschwald/maxminddb-golang/v2"
)

const (
	source = "@ip-location-db/geo-whois-asn-country-mmdb"
	member = "package/geo-whois-asn-country.mmdb"
)

func main() {
	from := flag.String("from", "", "country database in the flat schema; without it npm is asked for "+source)
	folder := flag.String("folder", "geo/builtin", "folder of the lists of countries, and of the result")
	flag.Parse()
	if err := generate(*from, *folder); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func generate(from, folder string) error {
	content, err := flatDatabase(from)
	if err != nil {
		return err
	}
	flat, err := maxminddb.OpenBytes(content)
	if err != nil {
		return err
	}
	records, err := records(folder)
	if err != nil {
		return err
	}
	tree, err := convert(flat, records)
	if err != nil {
		return err
	}
	return write(tree, filepath.Join(folder, "country.mmdb.gz"))
}

// flatDatabase is the content of a file, or that of the package which npm gives.
func flatDatabase(file string) ([]byte, error) {
	if file != "" {
		return os.ReadFile(file)
	}
	temp, err := os.MkdirTemp("", "geo")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	npm := exec.Command("npm", "pack", "--silent", source)
	npm.Dir, npm.Stderr = temp, os.Stderr
	if err := npm.Run(); err != nil {
		return nil, fmt.Errorf("npm pack %s: %w", source, err)
	}
	packages, err := filepath.Glob(filepath.Join(temp, "*.tgz"))
	if err != nil || len(packages) != 1 {
		return nil, fmt.Errorf("npm pack %s left %d packages", source, len(packages))
	}
	return unpack(packages[0])
}

func unpack(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	packed, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	archive := tar.NewReader(packed)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s has no %s", file, member)
		}
		if err != nil {
			return nil, err
		}
		if header.Name == member {
			return io.ReadAll(archive)
		}
	}
}

// records are the new records by country. A country without centroid has no location.
func records(folder string) (map[string]mmdbtype.Map, error) {
	records := map[string]mmdbtype.Map{}
	continents, err := lines(filepath.Join(folder, "continents.csv"))
	if err != nil {
		return nil, err
	}
	for _, line := range continents {
		for country := range strings.FieldsSeq(line[1]) {
			records[country] = mmdbtype.Map{
				"continent": mmdbtype.Map{"code": mmdbtype.String(line[0])},
				"country":   mmdbtype.Map{"iso_code": mmdbtype.String(country)},
			}
		}
	}
	centroids, err := lines(filepath.Join(folder, "country-centroids.csv"))
	if err != nil {
		return nil, err
	}
	for _, line := range centroids {
		latitude, err := strconv.ParseFloat(line[1], 64)
		if err != nil {
			return nil, err
		}
		longitude, err := strconv.ParseFloat(line[2], 64)
		if err != nil {
			return nil, err
		}
		if records[line[0]] == nil {
			return nil, fmt.Errorf("country %s has no continent", line[0])
		}
		records[line[0]]["location"] = mmdbtype.Map{
			"latitude":  mmdbtype.Float64(latitude),
			"longitude": mmdbtype.Float64(longitude),
		}
	}
	return records, nil
}

func lines(file string) ([][]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	return r.ReadAll()
}

func convert(flat *maxminddb.Reader, records map[string]mmdbtype.Map) (*mmdbwriter.Tree, error) {
	built := flat.Metadata.BuildTime().UTC()
	tree, err := mmdbwriter.New(mmdbwriter.Options{
		BuildEpoch:              built.Unix(),
		DatabaseType:            "gslb-City",
		Description:             map[string]string{"en": "Countries with centroids, " + built.Format(time.DateOnly)},
		Languages:               []string{"en"},
		RecordSize:              24,
		DisableIPv4Aliasing:     true, // addresses with an IPv4 address inside are looked up by that
		IncludeReservedNetworks: true,
	})
	if err != nil {
		return nil, err
	}
	for r := range flat.Networks() {
		var country string
		if err := r.DecodePath(&country, "country_code"); err != nil {
			return nil, err
		}
		record, ok := records[country]
		if !ok {
			return nil, fmt.Errorf("country %q of %s is in no list", country, r.Prefix())
		}
		if err := tree.Insert(network(r.Prefix()), record); err != nil {
			return nil, err
		}
	}
	return tree, nil
}

// network is p as the writer takes it.
func network(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

// write replaces the file by the packed database, which has no time or name in its header.
func write(tree *mmdbwriter.Tree, file string) error {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := tree.WriteTo(w); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(file, packed.Bytes(), 0o644)
}
