{{/* Name of the application, for labels. */}}
{{- define "holdfast.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" }}
{{- end }}

{{/* Name of all objects. Short enough for suffixes. */}}
{{- define "holdfast.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains (include "holdfast.name" .) .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "holdfast.name" .) | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* Labels by which Services and policies select pods. Takes a list of the root and the component. */}}
{{- define "holdfast.selector" -}}
app.kubernetes.io/name: {{ include "holdfast.name" (first .) }}
app.kubernetes.io/instance: {{ (first .).Release.Name }}
app.kubernetes.io/component: {{ last . }}
{{- end }}

{{/* Labels of an object. Takes a list of the root and the component. */}}
{{- define "holdfast.labels" -}}
{{ include "holdfast.selector" . }}
app.kubernetes.io/version: {{ (first .).Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ (first .).Release.Service }}
helm.sh/chart: {{ printf "%s-%s" (first .).Chart.Name (first .).Chart.Version | replace "+" "_" }}
{{- with (first .).Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Metadata of an object. Takes a list of the root, the component, and the suffix of the name. */}}
{{- define "holdfast.metadata" -}}
{{- $root := first . -}}
name: {{ include "holdfast.fullname" $root }}{{ last . }}
namespace: {{ $root.Release.Namespace }}
labels:
  {{- include "holdfast.labels" (list $root (index . 1)) | nindent 2 }}
{{- end }}

{{/* Reference of an image. Takes a list of its values, the default tag and the root. */}}
{{- define "holdfast.image" -}}
{{- $image := first . -}}
{{- with default (last .).Values.global.imageRegistry $image.registry }}{{ . }}/{{ end }}{{ $image.repository }}
{{- if $image.digest }}@{{ $image.digest }}{{ else }}:{{ default (index . 1) $image.tag }}{{ end }}
{{- end }}

{{- define "holdfast.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "holdfast.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{/* A setting as text. Helm reads numbers as floats, which it would print as 1e+06. */}}
{{- define "holdfast.text" -}}
{{- if kindIs "slice" . }}
{{- $items := list }}
{{- range . }}{{ $items = append $items (include "holdfast.text" . | replace "," "\\,") }}{{ end }}
{{- join "," $items }}
{{- else if and (kindIs "float64" .) (eq . (float64 (int64 .))) }}
{{- int64 . }}
{{- else }}
{{- . }}
{{- end }}
{{- end }}

{{/* A duration such as 500ms, 20s, 5m or 1h in whole seconds, rounded up. */}}
{{- define "holdfast.seconds" -}}
{{- $text := toString . }}
{{- $number := regexFind "^[0-9]+" $text | int64 }}
{{- if hasSuffix "ms" $text }}{{ div (add $number 999) 1000 }}
{{- else if hasSuffix "m" $text }}{{ mul $number 60 }}
{{- else if hasSuffix "h" $text }}{{ mul $number 3600 }}
{{- else if hasSuffix "d" $text }}{{ mul $number 86400 }}
{{- else }}{{ $number }}
{{- end }}
{{- end }}

{{/* Seconds from the removal of a pod to its end at the latest. */}}
{{- define "holdfast.gracePeriod" -}}
{{- $drain := include "holdfast.seconds" (index .Values.config "stream.drain-timeout") }}
{{- $delay := include "holdfast.seconds" (default "0s" (index .Values.quarkus "shutdown.delay")) }}
{{- add .Values.preStopSeconds $drain $delay .Values.shutdownSeconds }}
{{- end }}

{{/* Whether there can be more than one replica. */}}
{{- define "holdfast.severalReplicas" -}}
{{- if ternary (gt (int .Values.autoscaling.maxReplicas) 1) (gt (int .Values.replicaCount) 1) .Values.autoscaling.enabled }}true{{ end }}
{{- end }}

{{- define "holdfast.redisHosts" -}}
{{- if .Values.redis.bundled.enabled -}}
redis://{{ include "holdfast.fullname" . }}-redis:6379
{{- else }}
{{- $user := "" }}
{{- if .Values.redis.secret.usernameKey }}{{ $user = "${SECRET_REDIS_USERNAME}" }}
{{- else if .Values.redis.username }}{{ $user = urlquery .Values.redis.username }}
{{- end }}
{{- $urls := list }}
{{- range splitList "," (nospace .Values.redis.url) }}
{{- $urls = append $urls (ternary (printf "%s%suser=%s" . (ternary "&" "?" (contains "?" .)) $user) . (ne $user "")) }}
{{- end }}
{{- join "," $urls }}
{{- end }}
{{- end }}

{{/* Host names under which clients may reach the gateway. */}}
{{- define "holdfast.allowedHosts" -}}
{{- $name := include "holdfast.fullname" . }}
{{- $service := printf "%s.%s.svc" $name .Release.Namespace }}
{{- $hosts := list "localhost" $name (printf "%s.%s" $name .Release.Namespace) $service (printf "%s.%s" $service .Values.clusterDomain) }}
{{- if .Values.ingress.enabled }}{{ $hosts = concat $hosts .Values.ingress.hosts }}{{ end }}
{{- if .Values.httpRoute.enabled }}{{ $hosts = concat $hosts .Values.httpRoute.hostnames }}{{ end }}
{{- $hosts = concat $hosts .Values.allowedHosts | uniq }}
{{- range $hosts }}
{{- if hasPrefix "*." . }}{{ fail (printf "Holdfast cannot allow all hosts of %s: set config.http.allowed-hosts" .) }}{{ end }}
{{- end }}
{{- join "," $hosts }}
{{- end }}

{{/*
All settings by their keys, as JSON. A value is a text, a number, a list, or a reference to a Secret. What the user sets
replaces what the chart sets.
*/}}
{{- define "holdfast.settings" -}}
{{- $settings := dict
  "quarkus.http.host" "0.0.0.0"
  "quarkus.http.port" .Values.ports.http
  "quarkus.management.host" "0.0.0.0"
  "quarkus.management.port" .Values.ports.management
  "holdfast.store" .Values.store
  "holdfast.http.allowed-hosts" (include "holdfast.allowedHosts" .)
}}
{{- if eq .Values.store "redis" }}
{{- $redis := .Values.redis }}
{{- $type := ternary "standalone" $redis.type $redis.bundled.enabled }}
{{- $_ := set $settings "quarkus.redis.client-type" $type }}
{{- if eq $type "sentinel" }}{{ $_ := set $settings "quarkus.redis.master-name" $redis.masterName }}{{ end }}
{{- if $redis.bundled.enabled }}
{{- $_ := set $settings "quarkus.redis.hosts" (include "holdfast.redisHosts" .) }}
{{- $_ := set $settings "holdfast.redis.max-bytes" (printf "%dM" (div (mul (int64 $redis.bundled.maxMemoryMegabytes) 2) 3)) }}
{{- else }}
{{- if $redis.secret.urlKey }}
{{- $_ := set $settings "quarkus.redis.hosts" (dict "secretKeyRef" (dict "name" $redis.secret.name "key" $redis.secret.urlKey)) }}
{{- else if $redis.url }}
{{- $_ := set $settings "quarkus.redis.hosts" (include "holdfast.redisHosts" .) }}
{{- if and $redis.secret.name $redis.secret.passwordKey }}
{{- $_ := set $settings "quarkus.redis.password" (dict "secretKeyRef" (dict "name" $redis.secret.name "key" $redis.secret.passwordKey)) }}
{{- end }}
{{- else }}
{{- fail "Set redis.url (or redis.secret.urlKey). For a trial set redis.bundled.enabled=true, or store=memory with replicaCount=1." }}
{{- end }}
{{- if or $redis.tls.ca.secret $redis.tls.ca.configMap }}
{{- $_ := set $settings "quarkus.tls.redis.trust-store.pem.certs" (printf "/etc/holdfast/redis-ca/%s" $redis.tls.ca.key) }}
{{- end }}
{{- if $redis.tls.clientSecret }}
{{- $_ := set $settings "quarkus.tls.redis.key-store.pem.0.cert" "/etc/holdfast/redis-client/tls.crt" }}
{{- $_ := set $settings "quarkus.tls.redis.key-store.pem.0.key" "/etc/holdfast/redis-client/tls.key" }}
{{- end }}
{{- if or $redis.tls.ca.secret $redis.tls.ca.configMap $redis.tls.clientSecret }}
{{- $_ := set $settings "quarkus.redis.tls-configuration-name" "redis" }}
{{- $_ := set $settings "quarkus.tls.redis.reload-period" "1h" }}
{{- end }}
{{- end }}
{{- else if include "holdfast.severalReplicas" . }}
{{- fail "store=memory is for one replica: set replicaCount=1 and autoscaling.enabled=false" }}
{{- end }}
{{- with .Values.trustedProxies }}
{{- $_ := set $settings "quarkus.http.proxy.proxy-address-forwarding" true }}
{{- $_ := set $settings "quarkus.http.proxy.allow-x-forwarded" true }}
{{- $_ := set $settings "quarkus.http.proxy.trusted-proxies" . }}
{{- end }}
{{- $servers := dict "upstream" .Values.upstream }}
{{- range $name, $server := .Values.upstreams }}{{ $_ := set $servers (printf "upstreams.%s" $name) $server }}{{ end }}
{{- range $prefix, $server := $servers }}
{{- if and $server.url $server.command }}{{ fail (printf "%s has both a url and a command" $prefix) }}{{ end }}
{{- range $key, $value := $server }}
{{- if has $key (list "headers" "environment" "tool-scopes") }}
{{- range $name, $item := $value }}{{ $_ := set $settings (printf "holdfast.%s.%s.%s" $prefix $key $name) $item }}{{ end }}
{{- else if not (or (kindIs "invalid" $value) (eq (toString $value) "")) }}
{{- $_ := set $settings (printf "holdfast.%s.%s" $prefix $key) $value }}
{{- end }}
{{- end }}
{{- end }}
{{- range $key, $value := .Values.config }}{{ $_ := set $settings (printf "holdfast.%s" $key) $value }}{{ end }}
{{- range $key, $value := .Values.quarkus }}{{ $_ := set $settings (printf "quarkus.%s" $key) $value }}{{ end }}
{{- toJson $settings }}
{{- end }}

{{/* Variable of the container with the value of a setting from a Secret. */}}
{{- define "holdfast.secretVariable" -}}
SECRET_{{ regexReplaceAll "[^A-Z0-9]" (upper .) "_" }}
{{- end }}

{{/* The text of application.properties. */}}
{{- define "holdfast.properties" -}}
{{- $settings := include "holdfast.settings" . | fromJson -}}
# Comes after the environment, as the file config/application.properties does.
config_ordinal=260
{{- range $key := keys $settings | sortAlpha }}
{{- $value := get $settings $key }}
{{- $text := "" }}
{{- if kindIs "map" $value }}
{{- $text = printf "${%s}" (include "holdfast.secretVariable" $key) }}
{{- else }}
{{- $text = include "holdfast.text" $value }}
{{- end }}
{{ $key | replace "\\" "\\\\" | replace " " "\\ " | replace ":" "\\:" | replace "=" "\\=" }}={{ $text | replace "\\" "\\\\" | replace "\n" "\\n" }}
{{- end }}
{{- end }}

{{/* The servers of mcpServers that are not disabled, as JSON. */}}
{{- define "holdfast.mcpServers" -}}
{{- if and .Values.mcpServers .Values.config.config }}{{ fail "config.config and mcpServers exclude each other" }}{{ end }}
{{- $servers := dict }}
{{- range $name, $server := .Values.mcpServers }}
{{- if hasKey $.Values.upstreams $name }}{{ fail (printf "%s is in both upstreams and mcpServers" $name) }}{{ end }}
{{- if not $server.disabled }}{{ $_ := set $servers $name $server }}{{ end }}
{{- end }}
{{- toJson $servers }}
{{- end }}

{{/* Whether a program is started for each session. It needs a process that reaps orphaned ones. */}}
{{- define "holdfast.startsPrograms" -}}
{{- $commands := list .Values.upstream.command }}
{{- range .Values.upstreams }}{{ $commands = append $commands .command }}{{ end }}
{{- range include "holdfast.mcpServers" . | fromJson }}{{ $commands = append $commands .command }}{{ end }}
{{- if compact $commands }}true{{ end }}
{{- end }}

{{/* Port of a URL. */}}
{{- define "holdfast.port" -}}
{{- $url := urlParse . }}
{{- $port := regexFind ":[0-9]+$" $url.host | trimPrefix ":" }}
{{- default (get (dict "http" "80" "https" "443" "redis" "6379" "rediss" "6379") $url.scheme) $port }}
{{- end }}

{{/* Ports of Redis, as JSON. */}}
{{- define "holdfast.redisPorts" -}}
{{- $ports := list }}
{{- if .Values.networkPolicy.redisPorts }}
{{- range .Values.networkPolicy.redisPorts }}{{ $ports = append $ports (toString (int .)) }}{{ end }}
{{- else if .Values.redis.secret.urlKey }}
{{- $ports = list "6379" }}
{{- else }}
{{- range splitList "," (nospace .Values.redis.url) }}{{ $ports = append $ports (include "holdfast.port" .) }}{{ end }}
{{- if eq .Values.redis.type "sentinel" }}{{ $ports = append $ports "6379" }}{{ end }}
{{- end }}
{{- uniq $ports | toJson }}
{{- end }}

{{/* URLs of the upstreams, apart from those in the same pod, as JSON. A URL with a variable is not known. */}}
{{- define "holdfast.remoteUpstreams" -}}
{{- $urls := list }}
{{- range concat (list .Values.upstream) (values .Values.upstreams) (include "holdfast.mcpServers" . | fromJson | values) }}
{{- $url := default "" (default .serverUrl .url) }}
{{- if and $url (not (contains "${" $url)) }}
{{- if not (has (urlParse $url).hostname (list "localhost" "127.0.0.1" "::1")) }}{{ $urls = append $urls $url }}{{ end }}
{{- end }}
{{- end }}
{{- toJson $urls }}
{{- end }}

{{/* Ports of the upstreams, as JSON. */}}
{{- define "holdfast.upstreamPorts" -}}
{{- $ports := list }}
{{- range include "holdfast.remoteUpstreams" . | fromJsonArray }}{{ $ports = append $ports (include "holdfast.port" .) }}{{ end }}
{{- if .Values.networkPolicy.upstreamPorts }}
{{- $ports = list }}
{{- range .Values.networkPolicy.upstreamPorts }}{{ $ports = append $ports (toString (int .)) }}{{ end }}
{{- end }}
{{- uniq $ports | sortAlpha | toJson }}
{{- end }}

{{/* URLs of issuers of access tokens, of their introspection and of token endpoints, as JSON. */}}
{{- define "holdfast.issuers" -}}
{{- $urls := list }}
{{- range $key, $value := include "holdfast.settings" . | fromJson }}
{{- if regexMatch "^holdfast\\.(auth\\.issuers\\..+\\.(url|introspection\\.endpoint)|upstreams?\\.(.+\\.)?token\\.endpoint)$" $key }}
{{- if and (kindIs "string" $value) (not (contains "${" $value)) }}
{{- if not (has (urlParse $value).hostname (list "localhost" "127.0.0.1" "::1")) }}{{ $urls = append $urls $value }}{{ end }}
{{- end }}
{{- end }}
{{- end }}
{{- toJson $urls }}
{{- end }}

{{/* Ports of these URLs, as JSON. */}}
{{- define "holdfast.issuerPorts" -}}
{{- $ports := list }}
{{- range include "holdfast.issuers" . | fromJsonArray }}{{ $ports = append $ports (include "holdfast.port" .) }}{{ end }}
{{- uniq $ports | sortAlpha | toJson }}
{{- end }}

{{/* Whether clients need a key or a token. A key in a variable of the container is not known. */}}
{{- define "holdfast.authenticates" -}}
{{- range $key, $_ := .Values.config }}
{{- if regexMatch "^auth\\.(keys|issuers)\\." $key }}true{{ end }}
{{- end }}
{{- end }}

{{/* Whether the name of an upstream or issuer may be that of a Service, whose pods may listen on another port than the Service. */}}
{{- define "holdfast.serversInCluster" -}}
{{- $urls := include "holdfast.issuers" . | fromJsonArray }}
{{- if not .Values.networkPolicy.upstreamPorts }}{{ $urls = concat $urls (include "holdfast.remoteUpstreams" . | fromJsonArray) }}{{ end }}
{{- range $urls }}
{{- $host := (urlParse .).hostname }}
{{- if or (lt (len (splitList "." $host)) 3) (regexMatch "\\.svc(\\.|$)" $host) }}true{{ end }}
{{- end }}
{{- end }}

{{/* Names of the servers below /servers, as JSON. */}}
{{- define "holdfast.serverNames" -}}
{{- concat (keys .Values.upstreams) (include "holdfast.mcpServers" . | fromJson | keys) | sortAlpha | toJson }}
{{- end }}

{{/* Path of the first server, without the slash at its start. */}}
{{- define "holdfast.testPath" -}}
{{- $names := include "holdfast.serverNames" . | fromJsonArray }}
{{- if or .Values.upstream.url .Values.upstream.command (not $names) -}}
mcp
{{- else -}}
servers/{{ first $names }}/mcp
{{- end }}
{{- end }}
