# SPDX-License-Identifier: Apache-2.0
"""Web frameworks of PyPI that serve a folder of files: `python3 apps.py FRAMEWORK FOLDER PORT`.

Each is told to in the way that its own documentation shows. Applications for WSGI and ASGI are also found by name, for
servers that load them: `apps:application`, with ICONS_FRAMEWORK and ICONS_FOLDER in the environment.
"""
import asyncio
import os
import sys

HOST = "127.0.0.1"


# Frameworks with a server of their own.

def tornado(folder, port):
    from tornado import web

    async def serve():
        web.Application([(r"/(.*)", web.StaticFileHandler, {"path": folder})]).listen(port, HOST)
        await asyncio.Event().wait()
    asyncio.run(serve())


def aiohttp(folder, port):
    from aiohttp import web
    app = web.Application()
    app.router.add_static("/", folder)
    web.run_app(app, host=HOST, port=port, print=None)


def sanic(folder, port):
    from sanic import Sanic
    app = Sanic("Icons")
    app.static("/", folder)
    app.run(HOST, port, single_process=True)


def cherrypy(folder, port):
    import cherrypy as cherry
    cherry.config.update({"server.socket_host": HOST, "server.socket_port": port, "engine.autoreload.on": False})
    cherry.quickstart(None, "/", {"/": {"tools.staticdir.on": True, "tools.staticdir.dir": folder}})


def robyn(folder, port):
    import robyn as robin
    app = robin.Robyn(__file__)
    app.serve_directory(route="/", directory_path=folder)
    app.start(host=HOST, port=port)


def flask(folder, port):
    flask_application(folder).run(HOST, port)


def django(folder, port):
    from django.conf import settings
    from django.core.management import execute_from_command_line
    from django.urls import re_path
    from django.views.static import serve
    settings.configure(
        DEBUG=True, ALLOWED_HOSTS=["*"], SECRET_KEY="icons", ROOT_URLCONF=__name__, MIDDLEWARE=[], INSTALLED_APPS=[])
    globals()["urlpatterns"] = [re_path(r"^(?P<path>.*)$", serve, {"document_root": folder})]
    execute_from_command_line(["apps", "runserver", "--noreload", f"{HOST}:{port}"])


# Applications for WSGI.

def flask_application(folder):
    from flask import Flask
    return Flask(__name__, static_folder=folder, static_url_path="/")


def werkzeug(folder):
    from werkzeug.exceptions import NotFound
    from werkzeug.middleware.shared_data import SharedDataMiddleware
    return SharedDataMiddleware(NotFound(), {"/": folder})


def whitenoise(folder):
    from whitenoise import WhiteNoise
    return WhiteNoise(missing, root=folder)


def whitenoise_autorefresh(folder):
    from whitenoise import WhiteNoise
    return WhiteNoise(missing, root=folder, autorefresh=True)


def servestatic(folder):
    from servestatic import ServeStatic
    return ServeStatic(missing, root=folder)


def missing(_, respond):
    respond("404 Not Found", [("Content-Length", "0")])
    return [b""]


def bottle(folder):
    import bottle as bottles
    app = bottles.Bottle()
    app.route("/<name:path>")(lambda name: bottles.static_file(name, root=folder))
    return app


def pyramid(folder):
    from pyramid.config import Configurator
    config = Configurator()
    config.add_static_view(name="/", path=folder, cache_max_age=0)
    return config.make_wsgi_app()


def falcon(folder):
    import falcon as falcons
    app = falcons.App()
    app.add_static_route("/", folder)
    return app


def static3(folder):
    import static
    return static.Cling(folder)


# Applications for ASGI.

def starlette(folder):
    from starlette.applications import Starlette
    from starlette.routing import Mount
    from starlette.staticfiles import StaticFiles
    return Starlette(routes=[Mount("/", StaticFiles(directory=folder))])


def falcon_asgi(folder):
    import falcon.asgi
    app = falcon.asgi.App()
    app.add_static_route("/", folder)
    return app


def quart(folder):
    from quart import Quart
    return Quart(__name__, static_folder=folder, static_url_path="/")


def litestar(folder):
    from litestar import Litestar
    from litestar.static_files import create_static_files_router
    return Litestar([create_static_files_router(path="/", directories=[folder])])


def blacksheep(folder):
    from blacksheep import Application
    app = Application()
    app.serve_files(folder)
    return app


if os.environ.get("ICONS_FRAMEWORK") in globals():
    application = globals()[os.environ["ICONS_FRAMEWORK"]](os.environ["ICONS_FOLDER"])
elif __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2], int(sys.argv[3]))
