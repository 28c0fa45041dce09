{{- /* Keys of the secret that a component uses: a worker has none of the API, separated by spaces. */ -}}
{{- define "connector-frame.secretKeys" -}}
{{- $keys := .root.Values.secret.keys -}}
{{- if eq .component "worker" -}}
{{- $keys = without $keys "SERVICE_API_KEY" "SMTP_URL" "OIDC_CLIENT_SECRET" -}}
{{- end -}}
{{- join " " $keys -}}
{{- end -}}

{{- /* Variables that secrets, values and the component set. */ -}}
{{- define "connector-frame.env" -}}
{{- $root := .root -}}
{{- $component := .component -}}
{{- $listens := ne $component "replica" -}}
{{- if ne $component "worker" }}
- { name: ENGINE, value: {{ ternary "on" "off" (eq $component "engine") | quote }} }
{{- end }}
- { name: PUBLIC_URL, value: {{ $root.Values.publicUrl | quote }} }
- { name: DRAIN_DELAY_MS, value: "6000" }
{{- with $root.Values.egressAllow }}
- { name: EGRESS_ALLOW, value: {{ join "," . | quote }} }
{{- end }}
{{- with ternary (list) $root.Values.trustProxy (eq $component "worker") }}
- { name: TRUST_PROXY, value: {{ join "," . | quote }} }
{{- end }}
{{- with $root.Values.listeners }}
{{- if .enabled }}
- { name: SYSLOG_HOST, value: "0.0.0.0" }
- { name: SYSLOG_PORTS, value: "{{ .firstPort }}-{{ sub (add .firstPort .count) 1 }}" }
{{- with .publicHost }}
- { name: SYSLOG_PUBLIC_HOST, value: {{ . | quote }} }
{{- end }}
{{- if and .tlsSecretName $listens }}
- { name: SYSLOG_TLS_KEY, value: /run/secrets/listeners/tls.key }
- { name: SYSLOG_TLS_CERT, value: /run/secrets/listeners/tls.crt }
{{- end }}
{{- end }}
{{- end }}
{{- range splitList " " (include "connector-frame.secretKeys" .) }}
- { name: {{ . }}_FILE, value: /run/secrets/connector-frame/{{ . }} }
{{- end }}
{{- range $name, $value := $root.Values.env }}
- { name: {{ $name }}, value: {{ toString $value | quote }} }
{{- end }}
{{- end -}}

{{- /* The template of the pods of one component: { root, component, settings }. */ -}}
{{- define "connector-frame.pod" -}}
{{- $root := .root -}}
{{- $isEngine := eq .component "engine" -}}
{{- $listens := and (ne .component "replica") $root.Values.listeners.enabled -}}
metadata:
  labels:
    {{- include "connector-frame.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
    {{- with $root.Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .settings.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "connector-frame.serviceAccount" $root }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: 45
  {{- with $root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: { type: RuntimeDefault }
  containers:
    - name: service
      image: {{ include "connector-frame.image" $root | quote }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      {{- if eq .component "worker" }}
      command: [node, /app/packages/service/dist/worker-main.js]
      {{- end }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      env:
        {{- include "connector-frame.env" . | nindent 8 }}
      ports:
        - { name: http, containerPort: 4000 }
        {{- if $listens }}
        {{- range $index := until (int $root.Values.listeners.count) }}
        - { name: listener-{{ $index }}, containerPort: {{ add $root.Values.listeners.firstPort $index }} }
        {{- end }}
        {{- end }}
      # Migrations and the recovery of buffers take place before the first response.
      startupProbe:
        httpGet: { path: /livez, port: http }
        periodSeconds: 5
        failureThreshold: 120
      livenessProbe:
        httpGet: { path: /livez, port: http }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /readyz, port: http }
        periodSeconds: 5
        timeoutSeconds: 4
        failureThreshold: 2
      resources:
        {{- toYaml .settings.resources | nindent 8 }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        - { name: data, mountPath: /var/lib/connector-frame }
        - { name: secrets, mountPath: /run/secrets/connector-frame, readOnly: true }
        {{- if and $listens $root.Values.listeners.tlsSecretName }}
        - { name: listeners, mountPath: /run/secrets/listeners, readOnly: true }
        {{- end }}
        {{- with $root.Values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - { name: tmp, emptyDir: { sizeLimit: 64Mi } }
    {{- if not $isEngine }}
    - { name: data, emptyDir: { sizeLimit: 64Mi } }
    {{- end }}
    - name: secrets
      secret:
        secretName: {{ $root.Values.secret.name }}
        # 0440
        defaultMode: 288
        items:
          {{- range splitList " " (include "connector-frame.secretKeys" .) }}
          - { key: {{ . }}, path: {{ . }} }
          {{- end }}
    {{- if and $listens $root.Values.listeners.tlsSecretName }}
    - name: listeners
      secret: { secretName: {{ $root.Values.listeners.tlsSecretName }}, defaultMode: 288 }
    {{- end }}
    {{- with $root.Values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .settings.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with .settings.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .settings.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .settings.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
