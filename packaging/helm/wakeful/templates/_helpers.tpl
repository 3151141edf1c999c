{{- define "wakeful.labels" -}}
app.kubernetes.io/name: wakeful
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "wakeful.selector" -}}
app.kubernetes.io/name: wakeful
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: node
{{- end }}

{{- define "wakeful.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- /* A setting as text. Numbers in values are floating-point: 2097152 would become 2.097152e+06. */ -}}
{{- define "wakeful.settings" -}}
{{- range $name, $value := . }}
- name: {{ $name }}
  {{- if kindIs "float64" $value }}
  value: {{ printf "%.0f" $value | quote }}
  {{- else }}
  value: {{ $value | quote }}
  {{- end }}
{{- end }}
{{- end }}

{{- define "wakeful.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- if .Values.ping }}
sysctls:
  - name: net.ipv4.ping_group_range
    value: "0 2147483647"
{{- end }}
{{- end }}

{{- define "wakeful.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}
