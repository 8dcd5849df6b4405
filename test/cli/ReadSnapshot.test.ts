/** Commands use the effective configuration: the file over the newest revision of the database, or the file alone. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { stringify } from "yaml"
import { aicr as program, cliConfig } from "../../src/app/Commands.ts"
import * as StoredRevisions from "../../src/app/StoredRevisions.ts"
import { reportAndExit } from "../../src/cli/Exit.ts"
import { freePort } from "../harness/FreePort.ts"
import { makeRepository, temporaryFolder } from "../vcs/Repository.ts"

const folder = temporaryFolder()
const file = (name: string): string => join(folder, name)

const grant = (env: string, base_url: string) => ({
  env,
  target: ["triggers", "second", "token_env"],
  destinations: { second: { kind: "gitea", endpoints: { base_url } } }
})
const inFile = {
  config_sources: { database: { enabled: true }, secret_refs: [grant("SECOND_TOKEN", "https://second.example")] },
  llm: {
    providers: [{ id: "p", kind: "anthropic", api_key_env: "MODEL_KEY" }],
    model_chain: { main: [{ provider: "p", model: "m" }] },
    default_model_chain: "main"
  },
  agent: { default: "native-llm" },
  triggers: [{ name: "main", kind: "gitea", base_url: "https://one.example" }],
  workspaces: { instances: { app: { source_repo: { trigger: "main", repo: "a/b" } } } },
  storage: { database: { kind: "sqlite", sqlite: { path: "aicr.db" } } }
}
const inDatabase = {
  globals: { review: { max_files: 7 } },
  entities: {
    triggers: { second: { kind: "gitea", base_url: "https://second.example", token_env: "SECOND_TOKEN" } },
    workspaces: { other: { source_repo: { trigger: "second", repo: "c/d" } } },
    channels: { one: { kind: "gitea_pr_review" }, two: { kind: "gitea_pr_review" } },
    routes: {
      later: { summary: ["two"] },
      first: { match: { trigger: "second" }, summary: ["one"] }
    }
  }
}

/** Runs a command in this process. */
const aicr = async (...args: ReadonlyArray<string>) => {
  let out = ""
  let err = ""
  const spies = [
    vi.spyOn(console, "log").mockImplementation((...parts) => void (out += `${parts.join(" ")}\n`)),
    vi.spyOn(console, "error").mockImplementation((...parts) => void (err += `${parts.join(" ")}\n`)),
    vi.spyOn(process.stderr, "write").mockImplementation((text) => {
      err += String(text)
      return true
    })
  ]
  try {
    const exit = await Effect.runPromiseExit(
      Command.runWith(program, { version: "0" })(args).pipe(
        Effect.provide([NodeServices.layer, cliConfig, StoredRevisions.layer])
      )
    )
    let code = -1
    reportAndExit(exit, (given) => (code = given))
    return { code, out, err }
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
}

beforeAll(async () => {
  vi.stubEnv("SECOND_TOKEN", "token")
  vi.stubEnv("MODEL_KEY", "key")
  writeFileSync(file("config.yaml"), stringify(inFile))
  writeFileSync(file("database.yaml"), stringify(inDatabase))
  await aicr("db", "migrate", "--config", file("config.yaml"))
  const pushed = await aicr("config", "push", file("database.yaml"), "--config", file("config.yaml"))
  expect(pushed).toEqual({ code: 0, out: expect.stringMatching(/\npublished revision 1\n$/), err: "" })
}, 60_000)
afterAll(() => vi.unstubAllEnvs())

const revision = (name: string) => `${file(name)} with revision 1 of its database`

describe("config check", () => {
  it("judges the file over the newest revision, and the file alone on request", async () => {
    const { code, out } = await aicr("config", "check", file("config.yaml"))
    expect(code).toBe(0)
    expect(out).toContain(`${revision("config.yaml")}: valid, 2 workspaces`)
    const json = await aicr("config", "check", "--format", "json", file("config.yaml"))
    expect(JSON.parse(json.out)).toMatchObject([{ file: file("config.yaml"), revision: 1, valid: true }])
    const alone = await aicr("config", "check", "--file-only", file("config.yaml"))
    expect(alone.out).toContain(`${file("config.yaml")}: valid, 1 workspace`)
  })

  it("warns of what the file hides in the database, and of grants that fit nothing", async () => {
    const second = { name: "second", kind: "gitea", base_url: "https://moved.example" }
    const changed = {
      ...inFile,
      config_sources: {
        ...inFile.config_sources,
        secret_refs: [grant("SECOND_TOKEN", "https://second.example"), grant("MODEL_KEY", "https://moved.example")]
      },
      triggers: [...inFile.triggers, second],
      review: { max_files: 3 }
    }
    writeFileSync(file("changed.yaml"), stringify(changed))
    const { code, err } = await aicr("config", "check", file("changed.yaml"))
    expect(code).toBe(0)
    expect(err).toMatch(/changed\.yaml:\d+:\d+ triggers\[1\]: hides triggers\/second of the database/)
    expect(err).toMatch(/changed\.yaml:\d+:\d+ review\.max_files: hides the value of the database/)
    expect(err).toMatch(/secret_refs\[0\]: grants SECOND_TOKEN to triggers second token_env, which does not use it/)
    expect(err).toMatch(/secret_refs\[1\]: grants MODEL_KEY/)
  })

  it("refuses a revision whose variables the file no longer grants, and names the destinations that do not fit", async () => {
    const { database } = inFile.config_sources
    const moved = { database, secret_refs: [grant("SECOND_TOKEN", "https://moved.example")] }
    writeFileSync(file("moved.yaml"), stringify({ ...inFile, config_sources: moved }))
    const { code, err, out } = await aicr("config", "check", file("moved.yaml"))
    expect(code).toBe(2)
    expect(out).toContain(`${revision("moved.yaml")}: 1 error`)
    expect(err).toMatch(/^triggers\/second token_env: .*\(secret_ref_missing\)/m)
    expect(err).toMatch(/secret_refs\[0\]: grants .* for another destination than .*second\.example/)
    const review = await aicr("route", "test", "-w", "app", "--trigger", "main", "--config", file("moved.yaml"))
    expect(review.code).toBe(2)
    expect(review.err).toContain(`${revision("moved.yaml")} is not valid`)
  })
})

describe("config show", () => {
  it("names the origin of each element of a list", async () => {
    const { out } = await aicr("config", "show", "--config", file("config.yaml"))
    expect(out).toMatch(/^triggers\[0\]\.base_url = "https:\/\/one\.example" +# config\.yaml:\d+$/m)
    expect(out).toMatch(/^triggers\[1\]\.base_url = "https:\/\/second\.example" +# database revision 1 by cli:/m)
    expect(out).toMatch(/^outputs\.routes\.rules\[0\]\.summary = \["one"\] +# database revision 1 by cli:/m)
    expect(out).toMatch(/^review\.max_files = 7 +# database revision 1 by cli:/m)
    const alone = await aicr("config", "show", "--file-only", "--config", file("config.yaml"))
    expect(alone.out).toMatch(/^triggers\[0\]\.name = "main" +# config\.yaml:\d+$/m)
    expect(alone.out).not.toMatch(/max_files = 7|database revision/)
  })
})

describe("a command", () => {
  it.each([
    ["route", ["route", "test", "--workspace", "nothing", "--trigger", "main"]],
    ["template", ["template", "render", "--workspace", "nothing"]],
    ["eval", ["eval", "--workspace", "nothing"]]
  ])("%s has the workspaces of the database, and without it those of the file", async (_, args) => {
    const whole = await aicr(...args, "--config", file("config.yaml"))
    expect(whole.code).toBe(2)
    expect(whole.err).toContain(`configuration: ${revision("config.yaml")}`)
    expect(whole.err).toMatch(/it has:? (app, other|other, app)/)
    const alone = await aicr(...args, "--file-only", "--config", file("config.yaml"))
    expect(alone.err).toMatch(/it has:? app\n/)
    expect(alone.err).not.toContain("database")
  })

  it("review has the workspaces of the database", async () => {
    const repository = makeRepository()
    repository.commit()
    repository.commit()
    const args = ["review", repository.path, "--base", "HEAD~1", "--workspace", "nothing"]
    const whole = await aicr(...args, "--config", file("config.yaml"))
    expect(whole.err).toMatch(/it has (app, other|other, app)/)
    const alone = await aicr(...args, "--file-only", "--config", file("config.yaml"))
    expect(alone.err).toMatch(/it has app\n/)
  })

  it("replay and doctor name the revision that they use", async () => {
    const replay = await aicr("replay", "0199b2c4-7c1e-7a51-8f60-2f1d3c5b7a90", "--config", file("config.yaml"))
    expect(replay.err).toContain(`configuration: ${revision("config.yaml")}`)
    const doctor = await aicr("doctor", "--offline", "--config", file("config.yaml"))
    // The token of a trigger is not set.
    expect(doctor).toMatchObject({ code: 2, out: expect.stringContaining(`${revision("config.yaml")}: valid, 2`) })
  })

  it("diff compares effective configurations", async () => {
    const { database } = inFile.config_sources
    const disabled = { ...inFile, config_sources: { database: { ...database, enabled: false } } }
    writeFileSync(file("disabled.yaml"), stringify(disabled))
    const { out } = await aicr("config", "diff", file("disabled.yaml"), file("config.yaml"))
    expect(out).toContain("review.max_files")
    const back = await aicr("config", "diff", file("config.yaml"), file("disabled.yaml"))
    expect(back.out).toContain("review.max_files")
    const alone = await aicr("config", "diff", "--file-only", file("disabled.yaml"), file("config.yaml"))
    expect(alone.out).not.toContain("review.max_files")
  })
})

describe("without its database", () => {
  it("a command ends with 3 and the reason, and works with the file alone on request", async () => {
    const database = { kind: "postgres", postgres: { url_env: "TEST_POSTGRES" } }
    writeFileSync(file("unreachable.yaml"), stringify({ ...inFile, storage: { database } }))
    vi.stubEnv("TEST_POSTGRES", `postgres://someone:pass-0815@127.0.0.1:${await freePort()}/aicr`)
    const at = ["--config", file("unreachable.yaml")]
    const message =
      /unreachable\.yaml:\d+:\d+ config_sources\.database: the configuration of the database cannot be read/
    const check = await aicr("config", "check", file("unreachable.yaml"))
    expect(check).toMatchObject({ code: 3, out: `${file("unreachable.yaml")}: 1 error\n` })
    expect(check.err).toMatch(message)
    expect(check.err).toContain("--file-only")
    const route = await aicr("route", "test", "-w", "app", "--trigger", "main", ...at)
    expect([route.code, route.err]).toEqual([3, expect.stringMatching(message)])
    expect(route.err).toContain("--file-only")
    const show = await aicr("config", "show", ...at)
    expect([show.code, show.err]).toEqual([3, expect.stringContaining("--file-only")])
    const doctor = await aicr("doctor", ...at)
    expect(doctor.code).toBe(2)
    expect(doctor.out).toMatch(message)
    expect(doctor.out).toMatch(/error +127\.0\.0\.1:\d+ \(.*\) cannot be reached/)
    for (const args of [
      ["config", "check", "--file-only", file("unreachable.yaml")],
      ["config", "show", "--file-only", ...at]
    ])
      expect((await aicr(...args)).code).toBe(0)
    expect(check.err + route.err + show.err + doctor.out).not.toContain("pass-0815")
  }, 60_000)
})
