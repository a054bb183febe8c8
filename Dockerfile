# An image that has Python and Celadon in it, and needs no shell, no writable disk and no root:
#
#   docker build -t celadon:0.1.0 .
#   docker run --read-only celadon:0.1.0 check --help
#
# RUNTIME may be any image with the same Python, one without a shell included.
ARG PYTHON=3.13
ARG RUNTIME=python:${PYTHON}-slim

FROM python:${PYTHON}-slim AS build
WORKDIR /src
COPY pyproject.toml hatch_build.py README.md LICENSE NOTICE ./
COPY src src
RUN pip install --no-cache-dir --no-compile --target /app '.[serve]' \
 && python -m compileall -q /app

FROM ${RUNTIME}
COPY --from=build /app /app
ENV PYTHONPATH=/app PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
USER 65532:65532
WORKDIR /app
EXPOSE 8443
ENTRYPOINT ["python", "-m", "celadon"]
CMD ["--help"]
