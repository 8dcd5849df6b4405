/** The image and the compose file, as far as they can be judged without a container engine. */
import { existsSync, readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { Schema } from "effect"
import { describe, expect, it } from "vitest"
import { parse } from "yaml"

const root = join(import.meta.dirname, "../..")
const read = (file: string): string => readFileSync(join(root, file), "utf8")

const Service = Schema.Struct({
  image: Schema.String,
  build: Schema.optional(Schema.String),
  command: Schema.optional(Schema.Array(Schema.String)),
  restart: Schema.Literal("unless-stopped"),
  stop_grace_period: Schema.optional(Schema.String),
  env_file: Schema.optional(Schema.Array(Schema.Struct({ path: Schema.String, required: Schema.Boolean }))),
  environment: Schema.optional(Schema.Record(Schema.String, Schema.String)),
  ports: Schema.optional(Schema.Array(Schema.String)),
  volumes: Schema.Array(Schema.String),
  healthcheck: Schema.Struct({
    test: Schema.Array(Schema.String),
    interval: Schema.String,
    timeout: Schema.String,
    retries: Schema.Int,
    start_period: Schema.optional(Schema.String)
  })
})
const Compose = Schema.Struct({
  services: Schema.Record(Schema.String, Service),
  volumes: Schema.Record(Schema.String, Schema.Null)
})

const compose = Schema.decodeUnknownSync(Compose, { onExcessProperty: "error" })(parse(read("docker-compose.yml")))
const services = Object.entries(compose.services)

describe("docker-compose.yml", () => {
  it("has the service and its three servers", () => {
    expect(services.map(([name]) => name).toSorted()).toEqual(["aicr", "nats", "postgres", "redis"])
  })

  it.each(services)("%s: pinned image, health check by a command, named volumes", (_name, service) => {
    expect(service.image).toMatch(/^[a-z]+:\d+\.?\d*/)
    expect(service.healthcheck.test[0]).toBe("CMD")
    const named = service.volumes
      .filter((volume) => !volume.startsWith("./"))
      .map((volume) => volume.split(":")[0] ?? "")
    expect(named).not.toEqual([])
    expect(named.filter((volume) => !(volume in compose.volumes))).toEqual([])
  })

  it("declares no volume that nobody uses, and no secret", () => {
    const used = services.flatMap(([, service]) => service.volumes.map((volume) => volume.split(":")[0]))
    expect(Object.keys(compose.volumes).filter((volume) => !used.includes(volume))).toEqual([])
    const values = services.flatMap(([, service]) => Object.entries(service.environment ?? {}))
    const inline = values.filter(([name, value]) => /password|secret|token|key/i.test(name) && !value.startsWith("${"))
    expect(inline).toEqual([])
    expect(values.filter(([, value]) => /:\/\/[^:/@]*:(?!\$\{)[^@]*@/.test(value))).toEqual([])
  })

  it("gives the service longer to stop than it gives itself", () => {
    expect(Number.parseInt(compose.services["aicr"]?.stop_grace_period ?? "0", 10)).toBeGreaterThan(15)
  })
})

describe("Dockerfile", () => {
  const lines = read("Dockerfile")
    .replace(/\\\n/g, " ")
    .split("\n")
    .filter((line) => /^[A-Z]+ /.test(line))
  const copied = lines
    .filter((line) => line.startsWith("COPY ") && !line.includes("--from="))
    .flatMap((line) => line.split(/\s+/).slice(1, -1))

  it("copies what exists and what .dockerignore lets through", () => {
    expect(copied).not.toEqual([])
    expect(copied.filter((path) => !existsSync(join(root, path)))).toEqual([])
    const kept = read(".dockerignore")
      .split("\n")
      .filter((line) => line.startsWith("!"))
      .map((line) => line.slice(1))
    expect([...new Set(copied)].toSorted()).toEqual(kept.toSorted())
  })

  it("copies every folder with code that runs in the service", () => {
    const holdsCode = (folder: string): boolean =>
      existsSync(join(root, folder)) && readdirSync(join(root, folder)).some((name) => name !== ".gitkeep")
    expect(["actors", "nats", "src"].filter((folder) => holdsCode(folder) && !copied.includes(folder))).toEqual([])
  })

  it("runs the service as an ordinary user, under an init, on the Node it is tested with", () => {
    expect(lines.findLastIndex((line) => line.startsWith("USER node"))).toBeGreaterThan(
      lines.findLastIndex((line) => line.startsWith("RUN"))
    )
    expect(lines.filter((line) => line.startsWith("FROM ")).every((line) => line.includes("node:24-slim"))).toBe(true)
    expect(read("package.json")).toMatch(/"node": "24\./)
    const entry = lines.find((line) => line.startsWith("ENTRYPOINT"))?.slice("ENTRYPOINT ".length)
    const script = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Array(Schema.String)))(entry).at(-1) ?? ""
    expect(existsSync(join(root, script))).toBe(true)
    expect(lines.some((line) => line.startsWith("HEALTHCHECK") && line.includes("/healthz"))).toBe(true)
  })
})
