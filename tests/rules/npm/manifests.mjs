// manifests.mjs MANIFESTS.json: each document by the schema of its kind (npm kubernetes-models, made from Kubernetes' OpenAPI, and
// @kubernetes-models/prometheus-operator, made from the CRDs of the Prometheus operator).
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
const load = createRequire(import.meta.url);
let wrong = 0;
for (const manifest of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  const operator = manifest.apiVersion.startsWith("monitoring.coreos.com/");
  const { [manifest.kind]: Kind } = load(`${operator ? "@kubernetes-models/prometheus-operator" : "kubernetes-models"}/${manifest.apiVersion}`);
  try {
    new Kind(manifest).validate();
    console.log(`${manifest.apiVersion} ${manifest.kind}: valid`);
  } catch (error) {
    wrong = 1;
    console.log(`${manifest.apiVersion} ${manifest.kind}: ${error.message}`);
  }
}
process.exit(wrong);
