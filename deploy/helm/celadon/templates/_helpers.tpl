{{- define "celadon.selector" -}}
app.kubernetes.io/name: celadon
app.kubernetes.io/instance: {{ .Values.name }}
{{- end }}

{{- define "celadon.labels" -}}
{{ include "celadon.selector" . }}
app.kubernetes.io/component: admission-webhook
{{- end }}

{{- define "celadon.metadata" -}}
name: {{ .Values.name }}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "celadon.labels" . | nindent 2 }}
{{- end }}

{{- define "celadon.asksCluster" -}}
{{- if or .Values.policies.fromCluster (eq .Values.certificates.source "own") }}true{{ else }}false{{ end }}
{{- end }}

{{- define "celadon.arguments" -}}
- webhook
{{- if .Values.policies.fromCluster }}
- --from-cluster
{{- else }}
- --filename
- /etc/celadon/policies
{{- end }}
{{- if eq .Values.certificates.source "own" }}
- --self-signed-secret
- {{ .Release.Namespace }}/{{ .Values.name }}-tls
- --tls-names
- {{ .Values.name }}.{{ .Release.Namespace }}.svc
- --webhook-configuration
- {{ .Values.name }}
{{- else }}
- --tls-cert-file
- /etc/celadon/tls/tls.crt
- --tls-private-key-file
- /etc/celadon/tls/tls.key
{{- end }}
{{- if .Values.events }}
- --events
{{- end }}
{{- if .Values.auditOnly }}
- --audit-only
{{- end }}
{{- end }}
