# syntax=docker/dockerfile:1
# The release archive: the program with most packages inside, and the dashboard. The tools that build them do not reach the image.
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json tsconfig.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY LICENSE ./
COPY actors ./actors
COPY bin ./bin
COPY demo ./demo
COPY docs ./docs
COPY eval ./eval
COPY nats ./nats
COPY src ./src
RUN npm pack --silent

FROM node:24-slim AS installation
WORKDIR /app
COPY --from=build /app/aicr-*.tgz ./
RUN tar --extract --strip-components=1 --file aicr-*.tgz && rm aicr-*.tgz
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24-slim
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates git subversion tini \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
ENV NODE_ENV=production
COPY --from=installation /app ./
# The command `aicr`: `docker compose exec aicr aicr queue list`.
RUN ln -s /app/bin/aicr /usr/local/bin/aicr
# A review of the example keeps compiled code, because a container may not write here: a start takes two thirds of the processor time then.
RUN aicr demo --once --json >/dev/null || true
# Records and mirrors: the only folders that the service writes to.
RUN mkdir -p data workspaces && chown node:node data workspaces
VOLUME ["/app/data", "/app/workspaces"]
USER node
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(process.env.AICR_HEALTH_URL??'http://127.0.0.1:8080/healthz').then((answer)=>process.exit(answer.ok?0:1),()=>process.exit(1))"]
STOPSIGNAL SIGTERM
# The flags of the scripts in package.json.
ENTRYPOINT ["tini", "--", "node", "--disable-warning=ExperimentalWarning", "--max-semi-space-size=16", "src/main.mjs"]
CMD ["serve", "--config", "/app/config.yaml"]
