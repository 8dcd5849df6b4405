/** Each field of `im.command_bindings` has an effect. */
import { describe, expect, it } from "vitest"
import { allows, findPermissions, listScopes, permitsQuestions } from "../../src/chat/Authorise.ts"
import { listRepositories, resolveRepository } from "../../src/chat/Repositories.ts"
import { testSnapshot, testWorkspace } from "../harness/TestSnapshot.ts"

const now = Date.parse("2030-01-01T00:00:00Z")
const connections = {
  lark: { kind: "feishu_app", app_id: "cli_a" },
  other: { kind: "feishu_app", app_id: "cli_b" }
}
const ada = { type: "feishu_open_id", id: "ou_ada" } as const
const group = { kind: "group", id: "oc_team" } as const
const binding = {
  enabled: true,
  connection: "lark",
  actors: [ada] as ReadonlyArray<object>,
  conversations: [group] as ReadonlyArray<object>,
  commands: ["status"]
}

const permissions = (change: object = {}, requester: object = {}, connection = "lark") => {
  const { document } = testSnapshot({ im: { connections, command_bindings: { b: { ...binding, ...change } } } })
  return findPermissions(document.im, connection, { sender: ada, conversation: group, ...requester }, now)
}
const count = (...args: Parameters<typeof permissions>): number => permissions(...args).length

describe("fields of command bindings", () => {
  it("enabled is required", () => {
    expect([count(), count({ enabled: false })]).toEqual([1, 0])
  })

  it("ask permits questions to a model", () => {
    expect([{ ask: true }, { ask: false }, {}].map((change) => permissions(change).some(permitsQuestions))).toEqual([
      true,
      false,
      false
    ])
  })

  it("connection is the one that binds, and only while it is enabled", () => {
    expect([count(), count({ connection: "other" }), count({}, {}, "other")]).toEqual([1, 0, 0])
    const { document } = testSnapshot({
      im: { connections: { lark: { ...connections.lark, enabled: false } }, command_bindings: { b: binding } }
    })
    expect(findPermissions(document.im, "lark", { sender: ada, conversation: group }, now)).toEqual([])
  })

  it("actors[].type and actors[].id name one person exactly", () => {
    const eve = { sender: { ...ada, id: "ou_eve" } }
    const wecom = { sender: { type: "wecom_userid", id: "ou_ada" } }
    expect([count(), count({}, eve), count({}, wecom)]).toEqual([1, 0, 0])
  })

  it("actors[].kind any names everyone, and a scope without a directory no one", () => {
    const scopes = [
      [{ kind: "any" }],
      [{ kind: "feishu_department", id: "d" }],
      [{ kind: "feishu_chat", chat_id: "oc_team" }]
    ]
    expect(scopes.map((actors) => count({ actors }))).toEqual([1, 0, 0])
  })

  it("actors[].kind, id, chat_id, recursive, name and value name a scope, whose members have the rights", () => {
    const scopesOf = (actor: object) => {
      const command_bindings = { b: { ...binding, actors: [actor] } }
      const { document } = testSnapshot({ im: { connections, command_bindings } })
      return listScopes(document.im, "lark", { sender: ada, conversation: group }, now)
    }
    const scopes = [
      { kind: "feishu_chat", id: "oc_1" },
      { kind: "feishu_department", id: "od-1", recursive: true },
      { kind: "feishu_department", id: "od-1", recursive: false },
      { kind: "wecom_extattr", name: "team", value: "core" }
    ]
    expect(scopesOf({ kind: "feishu_chat", chat_id: "oc_1" })).toEqual([scopes[0]])
    expect(scopesOf({ kind: "feishu_department", id: "od-1" })).toEqual([scopes[1]])
    expect(scopesOf({ kind: "feishu_department", id: "od-1", recursive: false })).toEqual([scopes[2]])
    expect(scopesOf({ kind: "wecom_extattr", name: "team", value: "core" })).toEqual([scopes[3]])
    expect(scopesOf({ kind: "feishu_chat", chat_id: "oc_1", expires_at: "2020-01-01T00:00:00Z" })).toEqual([])
    const { document } = testSnapshot({
      im: {
        connections,
        command_bindings: { b: { ...binding, actors: [{ kind: "feishu_chat", chat_id: "oc_1" }] } }
      }
    })
    const rights = (memberships: ReadonlyArray<object>) =>
      findPermissions(
        document.im,
        "lark",
        { sender: ada, conversation: group },
        now,
        new Set(memberships.map((scope) => JSON.stringify(scope)))
      ).length
    expect([rights([]), rights(scopes.slice(1)), rights(scopes)]).toEqual([0, 0, 1])
  })

  it("actors[].expires_at ends a matcher", () => {
    const until = (time: string) => count({ actors: [{ ...ada, expires_at: time }] })
    expect([until("2030-01-01T00:00:01Z"), until("2030-01-01T00:00:00Z")]).toEqual([1, 0])
  })

  it("conversations[].kind and conversations[].id name conversations", () => {
    const direct = { conversation: { kind: "direct", id: "oc_p2p" } }
    const toApp = { conversations: [{ kind: "app_direct", id: "cli_a" }] }
    expect([count(), count({ conversations: [{ ...group, id: "oc_x" }] })]).toEqual([1, 0])
    expect([count({}, direct), count(toApp, direct), count(toApp)]).toEqual([0, 1, 0])
    expect(count({}, { conversation: { ...group, kind: "direct" } })).toBe(0)
    const toPerson = { conversations: [{ kind: "bot_direct", id: "ou_ada" }] }
    expect(count(toPerson, direct)).toBe(1)
  })

  it("commands are those that may be used", () => {
    expect(permissions().map((one) => [allows(one, "status"), allows(one, "review")])).toEqual([[true, false]])
  })
})

const workspace = { ...testWorkspace(), id: "w" }
const snapshot = { workspaces: new Map([["w", workspace]]) }
const resolve = (change: object, name: string, projects: Parameters<typeof resolveRepository>[2] = []) => {
  const found = resolveRepository(snapshot, permissions(change), projects, name)
  return found._tag === "Found" ? `${found.repository.trigger} ${found.repository.repo}` : found._tag
}

describe("repositories of command bindings", () => {
  it("repositories.<id>.workspace is what an alias names", () => {
    expect(resolve({ repositories: { app: { workspace: "w" } } }, "app")).toBe("test owner/name")
    expect(resolve({ repositories: { app: { workspace: "x" } } }, "app")).toBe("Unknown")
  })

  it("repositories.<id>.source_trigger and repo_ref replace those of the workspace", () => {
    expect(resolve({ repositories: { app: { workspace: "w", source_trigger: "t", repo_ref: "o/r" } } }, "app")).toBe(
      "t o/r"
    )
  })

  it("allow_all_repositories also takes workspace ids and full names", () => {
    const all = { allow_all_repositories: true }
    const projects = [{ workspace: "w", trigger: "test", repository: "owner/other" }]
    expect([resolve({}, "w"), resolve(all, "w"), resolve(all, "OWNER/name")]).toEqual([
      "Unknown",
      "test owner/name",
      "test owner/name"
    ])
    expect([resolve(all, "owner/other"), resolve(all, "owner/other", projects)]).toEqual([
      "Unknown",
      "test owner/other"
    ])
    expect(listRepositories(snapshot, permissions(all), projects).map(({ repo }) => repo)).toEqual([
      "owner/name",
      "owner/other"
    ])
  })

  it("an alias wins over a workspace id", () => {
    const both = permissions({ allow_all_repositories: true, repositories: { w: { workspace: "w", repo_ref: "o/r" } } })
    expect(resolveRepository(snapshot, both, [], "w")).toMatchObject({ _tag: "Found", repository: { repo: "o/r" } })
  })

  it("a name of two repositories names none", () => {
    const two = [
      ...permissions({ repositories: { app: { workspace: "w" } } }),
      ...permissions({ repositories: { app: { workspace: "w", repo_ref: "o/r" } } })
    ]
    expect(resolveRepository(snapshot, two, [], "app")._tag).toBe("Ambiguous")
  })
})
