# The image of web and worker. Build it with the repository as context: docker build -t mio .
FROM python:3.11-slim-bookworm AS build
WORKDIR /app
RUN python -m venv .venv
COPY requirements.txt ./
RUN .venv/bin/pip install --no-cache-dir --disable-pip-version-check -r requirements.txt

FROM python:3.11-slim-bookworm
# tini ends what the worker's processes leave; util-linux (setpriv) is in the image already.
RUN apt-get update && apt-get install -y --no-install-recommends tini \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --create-home mio \
    && install -d -m 700 -o mio -g mio /data
WORKDIR /app
COPY --from=build /app/.venv .venv
COPY . .
ENV PATH=/app/.venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    OMP_NUM_THREADS=1 \
    MIO_HOME=/data \
    UVICORN_HOST=0.0.0.0 \
    UVICORN_PORT=8000
USER mio
VOLUME /data
EXPOSE 8000
HEALTHCHECK --start-period=60s --start-interval=2s --interval=15s --timeout=5s \
    CMD ["python", "-c", "import os, urllib.request as u; u.urlopen('http://localhost:' + os.environ['UVICORN_PORT'] + '/readyz?parts=database,migrations,warm_up', timeout=4)"]
ENTRYPOINT ["tini", "--"]
# As many processes as WEB_CONCURRENCY says; mio_site.asgi reads the headers of trusted proxies.
CMD ["uvicorn", "mio_site.asgi:application", "--no-proxy-headers", "--no-access-log", "--lifespan", "off"]
