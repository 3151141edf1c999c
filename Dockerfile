# The image from source, for x86-64: docker build -t wakeful .
# It has the binary of the one that `make release` builds without Docker (docs/install.md), but not the
# licenses of its libraries.

FROM --platform=linux/amd64 node:22-bookworm-slim AS web
WORKDIR /src/web
COPY web/package.json web/package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY web ./
RUN npm run build

FROM --platform=linux/amd64 rust:1-bookworm AS binary
RUN apt-get update && apt-get install -y --no-install-recommends musl-tools \
    && rustup target add x86_64-unknown-linux-musl
WORKDIR /src
COPY . .
COPY --from=web /src/web/dist web/dist
# For `wakeful --version`; the clone's history is not part of the build.
ARG SOURCE_COMMIT=
ARG SOURCE_DATE_EPOCH=
RUN cp "$(packaging/build-binary)" /wakeful && mkdir -m 700 /data

FROM --platform=linux/amd64 scratch
COPY --from=binary /wakeful /usr/bin/wakeful
COPY --from=binary --chown=65532:65532 /data /data
# SQLite sorts in files when it changes the schema of a large database, and only /data is writable.
ENV PATH=/usr/bin WAKEFUL_DATA=/data WAKEFUL_LISTEN=0.0.0.0:8080 SQLITE_TMPDIR=/data
USER 65532:65532
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD ["/usr/bin/wakeful", "healthcheck"]
ENTRYPOINT ["/usr/bin/wakeful"]
CMD ["serve"]
