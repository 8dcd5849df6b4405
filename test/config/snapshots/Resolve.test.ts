/** Layers: global, workspaces.defaults, instance; and what is inherited from where. */
import { Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { diff } from "../../../src/config/Diff.ts"
import { showDocument, showWorkspace } from "../../../src/config/Show.ts"
import type { Snapshot } from "../../../src/config/Snapshot.ts"
import { readDocument } from "../../../src/config/snapshots/Snapshots.ts"
import { inEnglish } from "../../../src/text/en.ts"

const source_repo = { trigger: "t", repo: "a/b" }
const base = {
  llm: {
    providers: [{ id: "p", kind: "ollama" }],
    model_chain: Object.fromEntries(["default", "g", "d", "i"].map((name) => [name, [{ provider: "p", model: "m" }]]))
  },
  triggers: [{ name: "t", kind: "gitea", base_url: "https://git.example/", webhook_secret: "hook", token_env: "TOKEN" }]
}

const snapshot = (document: object): Snapshot => {
  const { snapshot: found, issues } = readDocument({ ...base, ...document }, { TOKEN: "tok" }, { baseDir: "/base" })
  if (found === undefined) throw new Error(issues.map(({ path, reason }) => `${path}: ${inEnglish(reason)}`).join("\n"))
  return found
}

const workspace = (instance: object, defaults: object = {}, global: object = {}) => {
  const found = snapshot({
    ...global,
    workspaces: { defaults, instances: { w: { source_repo, ...instance } } }
  }).workspaces.get("w")
  if (found === undefined) throw new Error("no workspace w")
  return found
}

describe("per field, the nearest layer wins", () => {
  it("numbers and words", () => {
    const { review } = workspace(
      { review: { max_files: 3 } },
      { review: { max_files: 2, max_problems: 2 } },
      { review: { max_files: 1, max_problems: 1, output_language: "en" } }
    )
    expect([review.max_files, review.max_problems, review.output_language, review.max_patch_bytes]).toEqual([
      3,
      2,
      "en",
      20_971_520
    ])
  })

  it("a default never overrides a layer below", () => {
    const { review, agent } = workspace(
      { review: { git: {} }, agent: { web_search: {} } },
      {},
      { review: { git: { allow_deepen: true } }, agent: { default: "codex", web_search: { enabled: true } } }
    )
    expect([review.git.allow_deepen, agent.default, agent.web_search.enabled]).toEqual([true, "codex", true])
  })

  it("lists are replaced, [] clears", () => {
    const global = {
      review: { exclude: ["a"], labels: { ignore: ["x"] }, auto_commit: { include_branches: ["main"] } }
    }
    expect(workspace({ review: { exclude: ["b"] } }, {}, global).review.exclude).toEqual(["b"])
    expect(workspace({ review: { exclude: [] } }, {}, global).review.exclude).toEqual([])
    expect(workspace({ review: { labels: { ignore: [] } } }, {}, global).review.labels.ignore).toEqual([])
    expect(
      workspace({ review: { auto_commit: { include_branches: [] } } }, {}, global).review.auto_commit.include_branches
    ).toEqual([])
    expect(workspace({}, {}, global).review.auto_commit.include_branches).toEqual(["main"])
  })

  it("the sandbox is merged over agent.sandbox, defaults and instance", () => {
    const found = workspace(
      { sandbox: { image: "i" } },
      { sandbox: { engine: "container_b", image: "d" }, agent: { sandbox: { engine: "auto" } } },
      { agent: { sandbox: { kind: "container_a", image: "g" } } }
    )
    expect(found.sandbox).toMatchObject({ kind: "docker", engine: "podman", image: "i" })
    expect(found.agent.sandbox).toEqual(found.sandbox)
  })

  it("limits of the sandbox are merged per field over agent.sandbox, defaults and instance", () => {
    const found = workspace(
      { sandbox: { limits: { processes: 30 } } },
      { sandbox: { limits: { cpus: 1.5, processes: 20 } }, agent: { sandbox: { limits: { output_mb: 9 } } } },
      { agent: { sandbox: { limits: { memory_mb: 100, cpus: 8 }, native: { unconfined: true } } } }
    )
    expect(found.sandbox).toMatchObject({
      limits: { memory_mb: 100, cpus: 1.5, processes: 30, file_mb: 512, output_mb: 9 },
      native: { unconfined: true }
    })
  })

  it("context repositories are replaced whole, and their defaults filled in", () => {
    const one = { alias: "one", kind: "git", url: "https://git.test/u" }
    const two = { alias: "two", kind: "svn", repository_url: "u", max_mb: 1, visibility: "any_author" }
    expect(workspace({}, { context_repositories: [one] }).contextRepositories).toEqual([
      { ...one, max_mb: 512, visibility: "members" }
    ])
    expect(workspace({ context_repositories: [two] }, { context_repositories: [one] }).contextRepositories).toEqual([
      { ...two, kind: "subversion" }
    ])
    expect(workspace({ context_repositories: [] }, { context_repositories: [one] }).contextRepositories).toEqual([])
  })

  it("channels whole, templates by name", () => {
    const global = { outputs: { templates: { a: "1", b: "1" }, channels: [{ name: "c", kind: "gitea_pr_review" }] } }
    const { outputs } = workspace(
      { outputs: { templates: { b: "2" }, channels: [{ name: "d", kind: "gitea_pr_review" }] } },
      {},
      global
    )
    expect(outputs.templates).toEqual({ a: "1", b: "2" })
    expect(outputs.channels.map(({ name }) => name)).toEqual(["d"])
  })

  it("a literal search credential of a layer takes the place of a variable's name", () => {
    const { agent } = workspace(
      { agent: { web_search: { credentials: { brave: { value: "literal" } } } } },
      {},
      { agent: { web_search: { credentials: { brave: "BRAVE", other: "OTHER" } } } }
    )
    expect(agent.web_search.credentials["other"]).toBe("OTHER")
    expect(JSON.stringify(agent.web_search.credentials["brave"])).toBe('{"value":"<redacted>"}')
  })
})

describe("model groups", () => {
  const chains = (instance: object, defaults: object = {}, llm: object = {}) => {
    const found = workspace(instance, defaults, { llm: { ...base.llm, ...llm } })
    return [found.modelChain, found.triageModelChain, found.authorResolutionModelChain]
  }
  it.each([
    ["nothing set", {}, {}, {}, ["default", "default", "default"]],
    ["the global main group", {}, {}, { default_model_chain: "g" }, ["g", "g", "g"]],
    [
      "the instance's main group is triage's, not identity's",
      { model_chain: "i" },
      {},
      { default_model_chain: "g" },
      ["i", "i", "g"]
    ],
    [
      "global triage and identity",
      { model_chain: "i" },
      {},
      { triage_model_chain: "g", author_resolution_model_chain: "d" },
      ["i", "g", "d"]
    ],
    [
      "defaults over global",
      {},
      { model_chain: "d", triage_model_chain: "d", author_resolution_model_chain: "d" },
      { triage_model_chain: "g" },
      ["d", "d", "d"]
    ],
    [
      "instance over defaults",
      { model_chain: "i", triage_model_chain: "g" },
      { model_chain: "d", triage_model_chain: "d" },
      {},
      ["i", "g", "default"]
    ]
  ])("%s", (_, instance, defaults, llm, expected) => {
    expect(chains(instance, defaults, llm)).toEqual(expected)
  })

  it("without groups there is none", () => {
    const found = workspace({}, {}, { llm: {} })
    expect([found.modelChain, found.triageModelChain]).toEqual([undefined, undefined])
  })
})

describe("schedules", () => {
  const week = [{ days: ["mon"], windows: [{ start: "08:00", end: "18:00" }] }]
  const night = [{ days: ["sun"], windows: [{ start: "22:00", end: "06:00" }] }]
  const pullRequests = (instance: object, global: object = {}) =>
    workspace({ review: instance }, {}, { review: global }).review.pull_request.schedule

  it("nothing set: no limits, UTC", () => {
    expect(pullRequests({})).toEqual({ timezone: "UTC" })
  })
  it("unset everywhere: the one of automatic commits, with its zone", () => {
    expect(pullRequests({}, { auto_commit: { schedule: { timezone: "Asia/Tokyo", rules: week } } })).toEqual({
      timezone: "Asia/Tokyo",
      rules: week
    })
    expect(
      pullRequests(
        { auto_commit: { schedule: { rules: night } } },
        { auto_commit: { schedule: { timezone: "Asia/Tokyo", rules: week } } }
      )
    ).toEqual({ timezone: "Asia/Tokyo", rules: night })
  })
  it("set anywhere: its own, in its own zone", () => {
    expect(
      pullRequests(
        {},
        {
          auto_commit: { schedule: { timezone: "Asia/Tokyo", rules: week } },
          pull_request: { schedule: { rules: night } }
        }
      )
    ).toEqual({ timezone: "UTC", rules: night })
  })
  it("[] lifts all limits", () => {
    expect(
      pullRequests({ pull_request: { schedule: { rules: [] } } }, { auto_commit: { schedule: { rules: week } } })
    ).toEqual({ timezone: "UTC", rules: [] })
  })
  it("the short form of a window is the long one", () => {
    const rules = [{ days: ["monday"], windows: ["08:00-18:00"] }]
    expect(pullRequests({ pull_request: { schedule: { rules } } }).rules).toEqual(week)
  })
})

describe("triggers", () => {
  it("have credentials and the API's address", () => {
    const trigger = snapshot({}).triggers.get("t")
    expect(trigger?.webhookSecret === undefined ? undefined : Redacted.value(trigger.webhookSecret)).toBe("hook")
    expect(trigger?.token === undefined ? undefined : Redacted.value(trigger.token)).toBe("tok")
    expect([trigger?.baseUrl, trigger?.apiUrl]).toEqual(["https://git.example", "https://git.example/api/v1"])
  })
  it.each([
    [{ kind: "github" }, "https://github.com", "https://api.github.com"],
    [{ kind: "github", base_url: "https://ghe.example" }, "https://ghe.example", "https://ghe.example/api/v3"],
    [{ kind: "gitlab" }, "https://gitlab.com", "https://gitlab.com/api/v4"],
    [{ kind: "forgejo", base_url: "https://f.example/sub" }, "https://f.example/sub", "https://f.example/sub/api/v1"],
    [{ kind: "perforce" }, undefined, undefined]
  ])("%j", (fields, baseUrl, apiUrl) => {
    const found = snapshot({ triggers: [{ name: "t", ...fields }] })
    expect([found.triggers.get("t")?.baseUrl, found.triggers.get("t")?.apiUrl]).toEqual([baseUrl, apiUrl])
    expect(found.triggersOfKind(found.triggers.get("t")?.kind ?? "manual")).toHaveLength(1)
  })
})

describe("snapshots", () => {
  it("have the same hash whatever the spelling and order, another for another content", () => {
    const one = snapshot({ queue: { kind: "embedded_sql", embedded_sql: { path: "a" } }, server: { port: 1 } })
    const two = snapshot({ server: { port: 1, hostname: null }, queue: { sqlite: { path: "a" }, kind: "sqlite" } })
    expect(two.hash).toBe(one.hash)
    expect(one.hash).toMatch(/^[0-9a-f]{64}$/)
    expect(snapshot({ queue: { kind: "sqlite", sqlite: { path: "b" } }, server: { port: 1 } }).hash).not.toBe(one.hash)
  })
  it("tell changed secrets apart without showing them", () => {
    const server = (api_key: string) => ({ server: { auth: { api_key } } })
    expect(snapshot(server("one")).hash).not.toBe(snapshot(server("two")).hash)
    expect(JSON.stringify(snapshot(server("one-secret")))).not.toContain("one-secret")
  })
  it("cannot be changed", () => {
    const found = snapshot({ workspaces: { instances: { w: { source_repo } } } })
    for (const object of [
      found,
      found.document,
      found.document.review.labels,
      found.workspaces.get("w"),
      found.workspaces.get("w")?.review
    ])
      expect(Object.isFrozen(object)).toBe(true)
  })
  it("resolve directories against the base directory", () => {
    expect(snapshot({}).workspacesRoot).toBe("/base/workspaces")
    expect(snapshot({ workspaces: { root: "w" } }).workspacesRoot).toBe("/base/w")
    expect(snapshot({ workspaces: { root: "/srv/w" } }).workspacesRoot).toBe("/srv/w")
  })
})

describe("show", () => {
  const found = snapshot({
    review: { max_files: 1, max_problems: 1, auto_commit: { schedule: { timezone: "Asia/Tokyo" } } },
    server: { auth: { api_key: "global-secret" } },
    workspaces: {
      defaults: { review: { max_problems: 2 }, model_chain: "d" },
      instances: { w: { source_repo, review: { min_severity: "high" }, auth: { api_key: "workspace-secret" } } }
    }
  })
  const origins = Object.fromEntries(
    (showWorkspace(found, "w") ?? []).map(({ path, value, origin }) => [path, [value, origin]])
  )
  it("shows the origin of each value", () => {
    expect(origins).toMatchObject({
      "review.max_files": [1, "document"],
      "review.max_problems": [2, "workspaces.defaults"],
      "review.min_severity": ["high", "workspaces.instances.w"],
      "review.max_patch_bytes": [20_971_520, "default"],
      "review.pull_request.schedule.timezone": ["Asia/Tokyo", "document (review.auto_commit.schedule)"],
      model_chain: ["d", "workspaces.defaults"],
      triage_model_chain: ["d", "inherited"],
      author_resolution_model_chain: ["default", "inherited"],
      "source_repo.repo": ["a/b", "workspaces.instances.w"]
    })
  })
  it("masks secrets", () => {
    const text = JSON.stringify([showDocument(found), showWorkspace(found, "w")])
    expect(text).not.toMatch(/global-secret|workspace-secret|"hook"|"tok"/)
    expect(origins["auth.api_key"]).toEqual(["********", "workspaces.instances.w"])
  })
  it("returns undefined for an unknown workspace", () => {
    expect(showWorkspace(found, "x")).toBeUndefined()
  })
})

describe("diff", () => {
  it("field by field, entries by name, secrets masked", () => {
    const before = snapshot({ triggers: [{ name: "a", kind: "manual" }, ...base.triggers], server: { port: 1 } })
    const after = snapshot({
      triggers: [
        { ...base.triggers[0], token_env: undefined, token: "new-secret" },
        { name: "b", kind: "manual" }
      ],
      server: { port: 2, base_url: "https://a.example" }
    })
    expect(
      diff(before.document, after.document).map(({ path, change, before: old, after: now }) => [change, path, old, now])
    ).toEqual([
      ["added", "server.base_url", undefined, "https://a.example"],
      ["changed", "server.port", 1, 2],
      ["removed", "triggers.a", expect.anything(), undefined],
      ["added", "triggers.b", undefined, expect.anything()],
      ["added", "triggers.t.token", undefined, "********"],
      ["removed", "triggers.t.token_env", "TOKEN", undefined]
    ])
    expect(diff(before.document, before.document)).toEqual([])
  })
  it("reports that a secret changed, without its value", () => {
    const server = (api_key: string) => snapshot({ server: { auth: { api_key } } }).document
    expect(diff(server("one"), server("two"))).toEqual([
      {
        path: "server.auth.api_key",
        names: ["server", "auth", "api_key"],
        change: "changed",
        before: "******** (before)",
        after: "******** (after)"
      }
    ])
    expect(diff(server("one"), server("one"))).toEqual([])
  })
})
