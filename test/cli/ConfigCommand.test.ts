/** Output, streams and exit codes of `aicr config` and `aicr doctor`. */
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { runAicr } from "../harness/RunAicr.ts"

let folder = ""
const file = (name: string): string => join(folder, name)
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "aicr-cli-"))
  await writeFile(
    file("good.yaml"),
    'triggers: [{ name: t, kind: github, webhook_secret_env: HOOK_SECRET, token: "literal-token" }]\nreview: { max_files: 5 }\n'
  )
  await writeFile(file("bad.yaml"), "server: { port: 0 }\nqueue: { kind: memroy }\n")
})
afterAll(() => rm(folder, { recursive: true }))

const aicr = (args: ReadonlyArray<string>, env: Record<string, string> = {}) => runAicr(args, { env })

it("check: a line per file, every error with its place, exit code 2", async () => {
  const { code, out, err } = await aicr(["config", "check", file("good.yaml"), file("bad.yaml"), file("none.yaml")])
  expect(code).toBe(2)
  expect(out.trim().split("\n")).toEqual([
    `${file("good.yaml")}: valid, 0 workspaces, 1 warning`,
    `${file("bad.yaml")}: 2 errors`,
    `${file("none.yaml")}: 1 error`
  ])
  expect(err).toContain(
    `${file("bad.yaml")}:1:17 server.port: expected a whole number from 1 to 65535, found the number 0`
  )
  expect(err).toContain(`${file("bad.yaml")}:2:16 queue.kind: `)
  expect(err).toContain('did you mean "memory"?')
  expect(err).toContain("warning: ")
  expect(err).not.toContain("literal-token")
})

it("check: exit code 0 for valid files, whose unset variables count only with --env", async () => {
  expect((await aicr(["config", "check", file("good.yaml")])).code).toBe(0)
  expect((await aicr(["config", "check", "--env", file("good.yaml")])).code).toBe(2)
  expect((await aicr(["config", "check", "--env", file("good.yaml")], { HOOK_SECRET: "s" })).code).toBe(0)
})

it("check: as JSON and as SARIF, with the same exit code", async () => {
  const json = await aicr(["config", "check", "--format", "json", file("good.yaml"), file("bad.yaml")])
  expect(json.code).toBe(2)
  const [good, bad] = JSON.parse(json.out)
  expect(good).toMatchObject({ file: file("good.yaml"), valid: true, issues: [{ severity: "warning" }] })
  expect(bad).toMatchObject({
    valid: false,
    issues: [{ severity: "error", path: "server.port", line: 1, column: 17 }, {}]
  })
  const sarif = await aicr(["config", "check", "--format", "sarif", file("bad.yaml")])
  expect(sarif.code).toBe(2)
  const { version, runs } = JSON.parse(sarif.out)
  expect([version, runs[0].results[0]]).toMatchObject([
    "2.1.0",
    {
      level: "error",
      message: { text: expect.stringMatching(/^server\.port: expected/) },
      locations: [{ physicalLocation: { region: { startLine: 1, startColumn: 17 } } }]
    }
  ])
  expect(json.out + sarif.out).not.toContain("literal-token")
})

it("check: every variable that is not set is an error with --env, and nothing advises to go without one", async () => {
  await writeFile(
    file("env.yaml"),
    "llm: { providers: [{ id: p, kind: anthropic, api_key_env: MODEL_KEY }] }\ntriggers: [{ name: t, kind: github, webhook_secret_env: HOOK_SECRET }]\n"
  )
  const { code, err } = await aicr(["config", "check", "--env", file("env.yaml")])
  expect(code).toBe(2)
  expect(err).toMatch(/^\S+ llm\.providers\[0\]\.api_key_env: the environment variable MODEL_KEY is not set$/m)
  expect(err).toMatch(/webhook_secret_env: the environment variable HOOK_SECRET is not set; set it$/m)
  expect(err).not.toMatch(/remove the field/)
  expect((await aicr(["config", "check", "--env", file("env.yaml")], { MODEL_KEY: "a", HOOK_SECRET: "b" })).code).toBe(
    0
  )
})

it("a token in the place of a variable's name is an error for check and show, and is not printed", async () => {
  const token = "ghp_Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb3d"
  await writeFile(file("pasted.yaml"), `triggers: [{ name: t, kind: github, token_env: ${token} }]\n`)
  for (const args of [
    ["check", file("pasted.yaml")],
    ["show", "--config", file("pasted.yaml")]
  ]) {
    const { code, out, err } = await aicr(["config", ...args])
    expect(code).toBe(2)
    expect(err).toContain(
      "triggers[0].token_env: expected the name of an environment variable, found what looks like a credential"
    )
    expect(out + err).not.toContain(token)
  }
})

it("show: where workspaces are, their paths, and maps without entries", async () => {
  await writeFile(
    file("places.yaml"),
    "triggers: [{ name: t, kind: github }]\nworkspaces: { instances: { w: { source_repo: { trigger: t, repo: a/b } } } }\n"
  )
  const whole = await aicr(["config", "show", "--config", file("places.yaml")])
  expect(whole.out).toMatch(new RegExp(`^workspaces\\.root = "${join(folder, "workspaces")}" +# default$`, "m"))
  expect(whole.out).toMatch(/^prompts\.system = \{\} +# default$/m)
  expect(whole.out).toMatch(/^im\.connections = \{\} +# default$/m)
  const one = await aicr(["config", "show", "--config", file("places.yaml"), "--workspace", "w"])
  expect(one.out).toMatch(/^work_path = "\{\{workspace\.id\}\}" +# default$/m)
})

it("check: nodes that work together need stores that they share", async () => {
  const nats = { SVC_NATS_URL: "nats://127.0.0.1:4222" }
  const apart = await aicr(["config", "check", file("good.yaml")], nats)
  expect(apart.code).toBe(2)
  expect(apart.err).toContain(
    "storage.database.kind: SVC_NATS_URL is set, so nodes work together: sqlite keeps records"
  )
  expect(apart.err).toMatch(/^queue\.kind: .*use redis or nats$/m)
  await writeFile(
    file("shared.yaml"),
    "queue: { kind: redis }\nstorage: { database: { kind: postgres, postgres: { url_env: TEST_PG } }, cache: { redis: { url_env: TEST_REDIS } } }\n"
  )
  const env = { ...nats, TEST_PG: "postgres://a@b/c", TEST_REDIS: "redis://b" }
  const shared = await aicr(["config", "check", file("shared.yaml")], env)
  expect([shared.code, shared.err]).toEqual([0, expect.stringContaining("mount the same storage")])
})

it("show: values with origins, as text and as JSON, secrets masked", async () => {
  const text = await aicr(["config", "show", "--config", file("good.yaml")])
  expect(text.out).toMatch(/^review\.max_files = 5 +# good\.yaml:2$/m)
  expect(text.out).toMatch(/^server\.port = 8080 +# default$/m)
  const json = await aicr(["config", "show", "--config", file("good.yaml"), "--json"])
  expect(JSON.parse(json.out)).toContainEqual({ path: "review.max_files", value: 5, origin: "good.yaml:2" })
  expect(text.out + json.out).not.toContain("literal-token")
  expect((await aicr(["config", "show", "--config", file("good.yaml"), "--workspace", "x"])).code).toBe(2)
})

it("schema: JSON Schema 2020-12", async () => {
  const { code, out } = await aicr(["config", "schema"])
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ $schema: "https://json-schema.org/draft/2020-12/schema" })
})

it("diff: what differs", async () => {
  await writeFile(file("other.yaml"), "server: { port: 9000 }\n")
  const { code, out } = await aicr(["config", "diff", file("good.yaml"), file("other.yaml")])
  expect(code).toBe(0)
  expect(out).toContain("~ server.port: 8080 -> 9000")
  expect(out).toContain("~ review.max_files: 5 -> 2000")
  expect(out).not.toContain("literal-token")
})

it("doctor: programs, servers, variables", async () => {
  const server = createServer((socket) => socket.end())
  const port = await new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resolve(typeof address === "object" && address !== null ? address.port : 0)
    })
  })
  await writeFile(
    file("doctor.yaml"),
    `llm: { providers: [{ id: up, kind: ollama, base_url: "http://127.0.0.1:${port}" }, { id: down, kind: ollama, base_url: "http://127.0.0.1:1" }] }
triggers: [{ name: depot, kind: perforce }]
queue: { workers: { lock_ttl_seconds: 5 } }
server: { auth: { api_key_env: UNSET_KEY } }
`
  )
  const { code, out } = await aicr(["doctor", "--config", file("doctor.yaml")])
  server.close()
  expect(code).toBe(2)
  expect(out).toMatch(/^error .*UNSET_KEY is not set/m)
  expect(out).toMatch(/^warning .*queue\.workers\.lock_ttl_seconds: reserved/m)
  expect(out).toMatch(/^ok +git is installed/m)
  expect(out).toMatch(
    /^error +p4 is not installed \(trigger depot\); install the command-line client of Perforce from https:/m
  )
  expect(out).toMatch(new RegExp(`^ok +127\\.0\\.0\\.1:${port} \\(llm provider up\\) responds`, "m"))
  expect(out).toMatch(/^error +127\.0\.0\.1:1 \(llm provider down\) cannot be reached: ECONNREFUSED/m)
})

it("a document that is wrong, and usage, are exit code 2", async () => {
  expect((await aicr(["doctor", "--config", file("bad.yaml")])).code).toBe(2)
  expect((await aicr(["config", "check"])).code).toBe(2)
  expect((await aicr(["config", "nonsense"])).code).toBe(2)
})
