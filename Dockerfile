# The service in one container (docs/server.md). Build it from a checkout, since no image and no package is published:
#   docker build -t item-vault .
#   docker run -d --read-only --cap-drop ALL --security-opt no-new-privileges -v item-vault:/data -v item-vault-secrets:/secrets \
#     -p 127.0.0.1:8080:8080 item-vault --listen 0.0.0.0:8080 --origin https://vault.example.com --trust-proxy 1
# The first start writes the secrets into the second volume. Keep a copy of it offline, apart from every copy of the first.
FROM node:24.21.0-slim AS build
WORKDIR /build
COPY . .
RUN npm ci
RUN npm run build
RUN npm pack --workspace packages/cli --pack-destination /tmp

FROM node:24.21.0-slim
COPY --from=build /tmp/item-vault-*.tgz /tmp/
RUN npm install --global --no-audit --no-fund /tmp/item-vault-*.tgz && rm /tmp/item-vault-*.tgz
# The account `node` of the image owns the data and the secrets. Nothing else is written, so the root file system may be read-only.
RUN install -d -m 700 -o node -g node /data /secrets
USER node
VOLUME /data /secrets
EXPOSE 8080
ENTRYPOINT ["item-vault", "server", "--data", "/data", "--root-keys", "/secrets/item-vault"]
