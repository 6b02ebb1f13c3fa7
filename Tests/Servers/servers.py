# SPDX-License-Identifier: Apache-2.0
"""The servers of files that Debian has: how each is told to serve a folder."""
import pathlib

from launch import free_port, row

ROWS = []
FOLDER = pathlib.Path(__file__).resolve().parent


def server(name, **options):
    return row(ROWS, name, **options)


@server("nginx", debian=["nginx-light", "nginx-common"])
def nginx(at):
    at.make("temporary")
    paths = "".join(f"{kind}_temp_path temporary;" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    return ["nginx", "-p", at.folder, "-c", at.write("nginx.conf", f"""
daemon off; pid nginx.pid; error_log stderr;
events {{}}
http {{
    include /etc/nginx/mime.types; access_log off; {paths}
    server {{ listen 127.0.0.1:{at.port}; root {at.site}; }}
}}
"""), "-e", "stderr"]


def apache_httpd(at, modules, directives):
    """An Apache httpd with modules, beside those that it always needs, and directives."""
    modules = "".join(
        f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n"
        for name in ("mpm_event", "authz_core", *modules))
    return ["apache2", "-DFOREGROUND", "-f", at.write("apache.conf", f"""
ServerRoot {at.folder}
ServerName localhost
PidFile httpd.pid
Listen 127.0.0.1:{at.port}
ErrorLog /dev/stderr
User www-data
Group www-data
{modules}
{directives}
""")]


@server("Apache httpd", debian=["apache2", "apache2-bin", "media-types"])
def apache(at):
    return apache_httpd(at, ["mime"], f"""
TypesConfig /etc/mime.types
DocumentRoot {at.site}
<Directory />
    Require all granted
</Directory>
""")


@server("lighttpd", debian=["lighttpd", "media-types"])
def lighttpd(at):
    return ["lighttpd", "-D", "-f", at.write("lighttpd.conf", f"""
server.document-root = "{at.site}"
server.bind = "127.0.0.1"
server.port = {at.port}
include_shell "/usr/share/lighttpd/create-mime.conf.pl"
""")]


@server("caddy", debian=["caddy", "media-types"])
def caddy(at):
    return ["caddy", "file-server", "--root", at.site, "--listen", f"127.0.0.1:{at.port}"]


@server("H2O", debian=["h2o"])
def h2o(at):
    return ["h2o", "-c", at.write("h2o.conf", f"""
listen: {{ host: 127.0.0.1, port: {at.port} }}
user: www-data
hosts:
  default:
    paths:
      "/":
        file.dir: {at.site}
""")]


@server("BusyBox httpd", debian=["busybox"])
def busybox(at):
    return ["busybox", "httpd", "-f", "-p", f"127.0.0.1:{at.port}", "-h", at.site]


@server("mini-httpd", debian=["mini-httpd"])
def mini_httpd(at):
    return ["mini_httpd", "-D", "-h", "127.0.0.1", "-p", at.port, "-d", at.site, "-u", "nobody"]


@server("Merecat", debian=["merecat"])
def merecat(at):
    return ["merecat", "-n", "-f", at.write("merecat.conf", ""), "-p", at.port, at.site]


@server("webfs", debian=["webfs", "media-types"])
def webfs(at):
    return ["webfsd", "-F", "-i", "127.0.0.1", "-p", at.port, "-r", at.site, "-m", "/etc/mime.types",
            "-u", "nobody", "-g", "nogroup"]


@server("micro-httpd", debian=["micro-httpd"], note="started for each connection, as by inetd")
def micro_httpd(at):
    return ["python3", FOLDER / "inetd.py", at.port, "micro-httpd", at.site]


@server("Yaws", debian=["yaws", "erlang-yaws"])
def yaws(at):
    at.make("logs")
    return ["erl", "-noshell", "-pa", "/usr/lib/yaws/ebin", "-run", "yaws", "-yaws", "id", "icons", "-conf", at.write("yaws.conf", f"""
logdir = {at.folder}/logs
id = icons
<server localhost>
    port = {at.port}
    listen = 127.0.0.1
    docroot = {at.site}
</server>
""")]


@server("inets httpd {} (Erlang)", debian=["erlang-inets", "erlang-base"])
def inets(at):
    start = (f'inets:start(), {{ok, _}} = inets:start(httpd, [{{port, {at.port}}}, {{bind_address, {{127,0,0,1}}}}, '
             f'{{server_name, "icons"}}, {{server_root, "{at.folder}"}}, {{document_root, "{at.site}"}}, '
             f'{{modules, [mod_alias, mod_range, mod_get, mod_head]}}, '
             f'{{mime_types, [{{"png", "image/png"}}, {{"svg", "image/svg+xml"}}]}}]).')
    return ["erl", "-noshell", "-eval", start]


@server("WEBrick {} (`ruby -run -e httpd`)", debian=["ruby-webrick", "ruby3.1"])
def webrick(at):
    return ["ruby3.1", "-run", "-e", "httpd", "--", at.site, "-p", at.port, "-b", "127.0.0.1"]


@server("Rack::Files {}, Puma", debian=["ruby-rack", "puma", "ruby3.1"])
def rack(at):
    rackup = at.write("config.ru", f'require "rack"\nrun Rack::Files.new("{at.site}")\n')
    return ["ruby3.1", "/usr/bin/puma", "-b", f"tcp://127.0.0.1:{at.port}", rackup]


@server("Sinatra {}, Puma", debian=["ruby-sinatra", "puma", "ruby3.1"])
def sinatra(at):
    rackup = at.write("config.ru", f"""
require "sinatra/base"
class Icons < Sinatra::Base
  set :public_folder, "{at.site}"
  set :environment, :production
end
run Icons
""")
    return ["ruby3.1", "/usr/bin/puma", "-b", f"tcp://127.0.0.1:{at.port}", rackup]


@server("PHP {} (`php -S`)", debian=["php8.2-cli"])
def php(at):
    return ["php8.2", "-S", f"127.0.0.1:{at.port}", "-t", at.site]


@server("rclone {} serve http", debian=["rclone", "media-types"])
def rclone(at):
    return ["rclone", "serve", "http", at.site, "--addr", f"127.0.0.1:{at.port}"]


@server("rclone {} serve webdav", debian=["rclone", "media-types"])
def rclone_webdav(at):
    return ["rclone", "serve", "webdav", at.site, "--addr", f"127.0.0.1:{at.port}"]


@server("uWSGI {} `--static-map`", debian=["uwsgi-core", "uwsgi-plugin-python3", "media-types"])
def uwsgi(at):
    # A map is looked up only if a plugin takes requests.
    return ["uwsgi-core", "--plugins", "python311", "--http-socket", f"127.0.0.1:{at.port}", "--static-map", f"/={at.site}", "--master",
            "--die-on-term"]


@server("Jetty", debian=["jetty9", "libjetty9-java", "openjdk-17-jre-headless"], note="DefaultServlet")
def jetty(at):
    return ["java", "-cp", "/usr/share/jetty9/lib/*:/usr/share/java/servlet-api.jar",
            "org.eclipse.jetty.xml.XmlConfiguration", at.write("jetty.xml", f"""
<!DOCTYPE Configure PUBLIC "-//Jetty//Configure//EN" "https://www.eclipse.org/jetty/configure_9_3.dtd">
<Configure class="org.eclipse.jetty.server.Server">
  <Call name="addConnector"><Arg>
    <New class="org.eclipse.jetty.server.ServerConnector">
      <Arg><Ref refid="Server"/></Arg>
      <Set name="host">127.0.0.1</Set><Set name="port">{at.port}</Set>
    </New>
  </Arg></Call>
  <Set name="handler">
    <New class="org.eclipse.jetty.servlet.ServletContextHandler">
      <Set name="contextPath">/</Set>
      <Set name="resourceBase">{at.site}</Set>
      <Call name="addServlet"><Arg>org.eclipse.jetty.servlet.DefaultServlet</Arg><Arg>/</Arg></Call>
    </New>
  </Set>
</Configure>
""".replace('class="org.eclipse.jetty.server.Server">', 'id="Server" class="org.eclipse.jetty.server.Server">'))]


@server("Tomcat", debian=["tomcat10", "tomcat10-common", "openjdk-17-jre-headless"])
def tomcat(at):
    at.make("temp")
    at.make("logs")
    at.write("conf/web.xml", pathlib.Path(at.store.tree, "usr/share/tomcat10/etc/web.xml").read_text())
    at.write("conf/server.xml", f"""
<Server port="-1">
  <Service name="Catalina">
    <Connector address="127.0.0.1" port="{at.port}" protocol="HTTP/1.1"/>
    <Engine name="Catalina" defaultHost="localhost">
      <Host name="localhost" appBase="{at.make('apps')}"><Context path="" docBase="{at.site}"/></Host>
    </Engine>
  </Service>
</Server>
""")
    return ["env", f"CATALINA_BASE={at.folder}", "CATALINA_HOME=/usr/share/tomcat10",
            "sh", "/usr/share/tomcat10/bin/catalina.sh", "run"]


@server("nghttpd", debian=["nghttp2-server", "nghttp2-proxy", "media-types"], note="HTTP/2, behind nghttpx")
def nghttpd(at):
    inner = free_port()
    return ["sh", "-c", f"nghttpd --no-tls -a 127.0.0.1 -d {at.site} --mime-types-file=/etc/mime.types {inner} & "
            f"exec nghttpx --conf=/dev/null -f '127.0.0.1,{at.port};no-tls' -b '127.0.0.1,{inner};;proto=h2'"]


@server("CivetWeb", debian=["civetweb"])
def civetweb(at):
    return ["civetweb", at.write("civetweb.conf", ""), "-listening_ports", f"127.0.0.1:{at.port}",
            "-document_root", at.site]


@server("Weborf", debian=["weborf"])
def weborf(at):
    return ["weborf", "-i", "127.0.0.1", "-p", at.port, "-b", at.site]


@server("Ocsigen Server", debian=["ocsigenserver", "media-types"])
def ocsigen(at):
    at.make("logs")
    at.make("data")
    return ["ocsigenserver", "-c", at.write("ocsigen.conf", f"""
<ocsigen>
  <server>
    <port>127.0.0.1:{at.port}</port>
    <logdir>{at.folder}/logs</logdir>
    <datadir>{at.folder}/data</datadir>
    <commandpipe>{at.folder}/command</commandpipe>
    <mimefile>/etc/ocsigenserver/mime.types</mimefile>
    <charset>utf-8</charset>
    <extension findlib-package="ocsigenserver.ext.staticmod"/>
    <host hostfilter="*"><static dir="{at.site}"/></host>
  </server>
</ocsigen>
""")]


@server("Express {} static (Node)", debian=["node-express", "nodejs"])
def express(at):
    script = at.write("icons.js", f"""
const express = require("express");
express().use(express.static("{at.site}")).listen({at.port}, "127.0.0.1");
""")
    return ["env", "NODE_PATH=/usr/share/nodejs:/usr/lib/nodejs", "node", script]


@server("Mojolicious", debian=["libmojolicious-perl"])
def mojolicious(at):
    script = at.write("icons.pl", f'use Mojolicious::Lite; app->static->paths(["{at.site}"]); app->start;\n')
    return ["perl", script, "daemon", "-m", "production", "-l", f"http://127.0.0.1:{at.port}"]


@server("Plack::App::File, Starman", debian=["starman", "libplack-perl"])
def plack(at):
    script = at.write("icons.psgi", f'use Plack::App::File; Plack::App::File->new(root => "{at.site}")->to_app;\n')
    return ["starman", "--listen", f"127.0.0.1:{at.port}", "--workers", "2", script]


@server("HTTP::Daemon {} (Perl)", debian=["libhttp-daemon-perl"])
def http_daemon(at):
    script = at.write("icons.pl", f"""
use HTTP::Daemon;
my $daemon = HTTP::Daemon->new(LocalAddr => "127.0.0.1", LocalPort => {at.port}, ReuseAddr => 1) or die $@;
$SIG{{CHLD}} = "IGNORE";
while (my $client = $daemon->accept) {{
    next if fork;
    while (my $request = $client->get_request) {{ $client->send_file_response("{at.site}" . $request->uri->path) }}
    exit;
}}
""")
    return ["perl", script]
