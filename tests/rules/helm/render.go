// render CHART NAMESPACE [VALUES.yaml...]: what "helm template linkhealth CHART -n NAMESPACE -f VALUES.yaml" prints, on a machine
// without Helm, which Debian does not have. It is made of the libraries that Helm itself is made of (text/template, sprig, ghodss/yaml,
// gojsonschema), and knows as much of Helm as the chart uses: a chart without dependencies, hooks and CRDs. NOTES.txt goes to stderr.
// Debian's packages: golang-go, golang-github-{masterminds-sprig,ghodss-yaml,xeipuuv-gojsonschema}-dev; GO111MODULE=off GOPATH=/usr/share/gocode
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"github.com/ghodss/yaml"
	"github.com/xeipuuv/gojsonschema"
)

type object = map[string]interface{}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "render:", err)
		os.Exit(1)
	}
}

func load(path string) object {
	text, err := os.ReadFile(path)
	must(err)
	content := object{}
	must(yaml.Unmarshal(text, &content))
	return content
}

// lay puts the values of "over" on those of "under"; null takes a key away, as in Helm.
func lay(under, over object) {
	for key, value := range over {
		inner, isObject := value.(object)
		below, both := under[key].(object)
		switch {
		case value == nil:
			delete(under, key)
		case isObject && both:
			lay(below, inner)
		default:
			under[key] = value
		}
	}
}

// files is .Files: what is in the chart and is not a template. Helm follows links (internal/sympath), and so does os.ReadFile.
type files map[string][]byte

func (f files) Get(name string) string { return string(f[name]) }
func (f files) Glob(pattern string) files {
	found := files{}
	for name, content := range f {
		if match, _ := filepath.Match(pattern, name); match {
			found[name] = content
		}
	}
	return found
}

func read(root, below string, into files) {
	entries, err := os.ReadDir(filepath.Join(root, below))
	must(err)
	for _, entry := range entries {
		name := filepath.Join(below, entry.Name())
		info, err := os.Stat(filepath.Join(root, name))
		must(err)
		if info.IsDir() {
			read(root, name, into)
			continue
		}
		content, err := os.ReadFile(filepath.Join(root, name))
		must(err)
		into[name] = content
	}
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: render CHART NAMESPACE [VALUES.yaml...]")
		os.Exit(2)
	}
	chart, all := os.Args[1], files{}
	read(chart, "", all)
	values := load(filepath.Join(chart, "values.yaml"))
	for _, path := range os.Args[3:] {
		lay(values, load(path))
	}
	text, err := json.Marshal(values)
	must(err)
	result, err := gojsonschema.Validate(gojsonschema.NewBytesLoader(all["values.schema.json"]), gojsonschema.NewBytesLoader(text))
	must(err)
	if !result.Valid() {
		for _, problem := range result.Errors() {
			fmt.Fprintln(os.Stderr, "render: values:", problem)
		}
		os.Exit(1)
	}

	// Chart.yaml's keys begin with a capital letter in templates
	about := object{}
	for key, value := range load(filepath.Join(chart, "Chart.yaml")) {
		about[strings.ToUpper(key[:1])+key[1:]] = value
	}
	others := files{}
	for name, content := range all {
		if !strings.HasPrefix(name, "templates/") && name != "Chart.yaml" && !strings.HasPrefix(name, "values.") {
			others[name] = content
		}
	}
	top := object{
		"Values": values, "Chart": about, "Files": others,
		"Release": object{"Name": "linkhealth", "Namespace": os.Args[2], "Service": "Helm", "IsInstall": true, "IsUpgrade": false, "Revision": 1},
	}

	templates := template.New("chart").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	delete(functions, "env")
	delete(functions, "expandenv")
	functions["toYaml"] = func(value interface{}) string {
		text, err := yaml.Marshal(value)
		if err != nil {
			return ""
		}
		return strings.TrimSuffix(string(text), "\n")
	}
	functions["toJson"] = func(value interface{}) string { text, _ := json.Marshal(value); return string(text) }
	functions["include"] = func(name string, data interface{}) (string, error) {
		var out bytes.Buffer
		err := templates.ExecuteTemplate(&out, name, data)
		return out.String(), err
	}
	functions["required"] = func(text string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return nil, fmt.Errorf("%s", text)
		}
		return value, nil
	}
	templates.Funcs(functions)
	names := []string{}
	for name, content := range all {
		if strings.HasPrefix(name, "templates/") {
			_, err := templates.New(name).Parse(string(content))
			must(err)
			names = append(names, name)
		}
	}
	sort.Strings(names)
	for _, name := range names {
		if strings.HasPrefix(filepath.Base(name), "_") {
			continue
		}
		var out bytes.Buffer
		must(templates.ExecuteTemplate(&out, name, top))
		rendered := strings.ReplaceAll(out.String(), "<no value>", "") // as Helm does
		if strings.HasSuffix(name, ".txt") {
			fmt.Fprint(os.Stderr, rendered)
		} else if strings.TrimSpace(rendered) != "" {
			fmt.Printf("---\n# Source: %s\n%s\n", name, rendered)
		}
	}
}
