# `docker build -t specledger .`, then `docker run --rm -v "$PWD:/project" --user "$(id -u):$(id -g)" specledger check .`
FROM python:3.13-slim-bookworm AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY engine engine
COPY specs specs
COPY schemas schemas
COPY docs docs
RUN pip wheel --no-cache-dir --wheel-dir /wheels '.[laws,sign]'

FROM python:3.13-slim-bookworm
# The user owns the folder that a project is mounted at, and nothing else.
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-index /wheels/*.whl \
    && useradd --uid 10001 --no-create-home specledger \
    && install -d -o specledger -g specledger /project
USER 10001
WORKDIR /project
ENTRYPOINT ["spec"]
CMD ["--help"]
