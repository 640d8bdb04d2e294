{{/* What every object of the chart has. The names are fixed: a second daemon on a node has neither port nor state. */}}
{{- define "linkhealth.labels" -}}
app.kubernetes.io/name: linkhealth
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "linkhealth.port" -}}
{{ .Values.listen | splitList ":" | last }}
{{- end }}

{{- define "linkhealth.config" -}}
listen: {{ .Values.listen | quote }}
{{- if .Values.plan }}
plan: /etc/linkhealth/plan.{{ .Values.planFormat }}
{{- end }}
{{- if .Values.web.secretName }}
web_config_file: /etc/linkhealth-web/web.yml
{{- end }}
{{- with .Values.config }}
{{ toYaml . }}
{{- end }}
{{- end }}
