/** Every example of a configuration starts the real process unchanged, except for its port and the folder that it writes to. */
import { execFile } from "node:child_process"
import { generateKeyPairSync } from "node:crypto"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, it, onTestFinished } from "vitest"
import { parse, stringify } from "yaml"
import { AicrProcess } from "../harness/AicrProcess.ts"
import { freePort } from "../harness/FreePort.ts"
import { NatsServer } from "../harness/Nats.ts"
import { PostgresServer } from "../harness/Postgres.ts"
import { RedisServer } from "../harness/Redis.ts"

const root = join(import.meta.dirname, "../..")

/** A value for each variable that the example names: a key where a key is expected. */
const environment = (text: string): Readonly<Record<string, string>> => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString()
  const names = [...text.matchAll(/\w+_env: *["']?([A-Z][A-Z0-9_]*)/g)].flatMap(([, name]) => name ?? [])
  return Object.fromEntries(
    names.map((name) => [name, name.includes("PRIVATE_KEY") ? pem : `value-of-${name.toLowerCase()}`])
  )
}

/** The parts that are changed. */
interface Example {
  readonly server?: { readonly path_prefix?: string }
  readonly workspaces?: object
  readonly llm?: { readonly model_catalog?: object }
}

/** No model catalog is read from the internet. */
const nowhere = "http://127.0.0.1:1/catalog.json"

/** The example as a file of its own that listens and writes where a test may. */
const written = async (name: string) => {
  const directory = await mkdtemp(join(tmpdir(), "aicr-example-"))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const text = await readFile(join(root, name), "utf8")
  const document: Example = parse(text)
  const port = await freePort()
  const configFile = join(directory, "config.yaml")
  await writeFile(
    configFile,
    stringify({
      ...document,
      server: { ...document.server, port, hostname: "127.0.0.1" },
      workspaces: { ...document.workspaces, root: join(directory, "workspaces") },
      ...(document.llm?.model_catalog === undefined
        ? {}
        : { llm: { ...document.llm, model_catalog: { ...document.llm.model_catalog, source_url: nowhere } } })
    })
  )
  return { configFile, url: `http://127.0.0.1:${port}${document.server?.path_prefix ?? ""}`, env: environment(text) }
}

it.each(["config.example.yaml", "examples/github-app.yaml", "examples/gitlab.yaml", "examples/perforce.yaml"])(
  "%s",
  async (name) => {
    await using aicr = new AicrProcess(await written(name))
    await aicr.start()
    expect((await aicr.stop()).code).toBe(0)
  },
  120_000
)

it("examples/cluster.yaml, with the servers that it names and the step before a roll-out", async () => {
  const example = await written("examples/cluster.yaml")
  const [nats, redis, postgres] = await Promise.all([NatsServer.start(), RedisServer.start(), PostgresServer.start()])
  await using servers = new AsyncDisposableStack()
  for (const server of [nats, redis, postgres]) servers.use(server)
  const env = {
    ...example.env,
    SVC_NATS_URL: nats.url,
    SVC_DATABASE_URL: postgres.url,
    SVC_REDIS_URL: redis.url
  }
  await using aicr = new AicrProcess({ ...example, env })
  const command = ["src/main.mjs", "db", "migrate", "--config", example.configFile]
  await promisify(execFile)(
    join(root, "node_modules/.bin/node"),
    ["--disable-warning=ExperimentalWarning", ...command],
    {
      cwd: root,
      env: { PATH: process.env["PATH"], ...env }
    }
  )
  await aicr.start()
  expect((await aicr.stop()).code).toBe(0)
  expect(aicr.log).not.toContain('"level":"error"')
}, 120_000)
