/** Edits that collide: what the user chose is what is sent, and nothing that others changed elsewhere is undone. */
import { describe, expect, it } from "vitest"
import { mask } from "../../../src/dashboard/configuration/FieldValues.ts"
import type { EditOperation } from "../../../src/dashboard/configuration/FieldOperations.ts"
import { conflictKey, resolveConflicts } from "../../../src/dashboard/configuration/ResolveConflicts.ts"
import type { Choice, FieldConflict } from "../../../src/dashboard/configuration/ResolveConflicts.ts"

const entity = { kind: "triggers", name: "main" } as const
const document = (main: unknown) => ({ globals: {}, entities: { triggers: main === undefined ? {} : { main } } })
const conflict = (path: string, head: unknown): FieldConflict => ({
  entity: "triggers/main",
  path,
  base: null,
  head,
  yours: null
})

const resolve = (
  operations: ReadonlyArray<EditOperation>,
  pairs: ReadonlyArray<readonly [FieldConflict, Choice]>,
  base: unknown,
  head: unknown
) =>
  resolveConflicts({
    operations,
    conflicts: pairs.map(([one]) => one),
    choices: Object.fromEntries(pairs.map(([one, choice]) => [conflictKey(one), choice])),
    base: document(base),
    head: document(head)
  })

const base = { kind: "gitea", base_url: "https://a", token: mask, enabled: true }
const head = { kind: "gitea", base_url: "https://theirs", token: mask, enabled: false }
const setUrl: EditOperation = { op: "set", entity, path: ["base_url"], value: "https://mine" }

describe("a set field", () => {
  it("is kept for mine and dropped for theirs", () => {
    expect(resolve([setUrl], [[conflict("base_url", "https://theirs"), "mine"]], base, head)).toEqual([setUrl])
    expect(resolve([setUrl], [[conflict("base_url", "https://theirs"), "theirs"]], base, head)).toEqual([])
  })

  it("of another entity stays", () => {
    const other: EditOperation = { op: "set", entity: { kind: "triggers", name: "x" }, path: ["base_url"], value: 1 }
    const documents = { globals: {}, entities: { triggers: { main: base, x: {} } } }
    const theirs = conflict("base_url", 1)
    expect(
      resolveConflicts({
        operations: [other],
        conflicts: [theirs],
        choices: { [conflictKey(theirs)]: "theirs" },
        base: documents,
        head: documents
      })
    ).toEqual([other])
  })

  it("that contains theirs gets their value inside", () => {
    const group: EditOperation = { op: "set", entity, path: ["app"], value: { app_id: "1", client_id: "mine" } }
    expect(resolve([group], [[conflict("app.client_id", "theirs"), "theirs"]], base, head)).toEqual([
      { ...group, value: { app_id: "1", client_id: "theirs" } }
    ])
  })
})

describe("an update", () => {
  const update: EditOperation = {
    op: "update",
    entity,
    value: { kind: "gitea", base_url: "https://mine", enabled: true }
  }

  it("becomes operations on what it changes, so that other changes stay", () => {
    expect(resolve([update], [[conflict("base_url", "https://theirs"), "mine"]], base, head)).toEqual([setUrl])
  })

  it("clears only the credential that is null", () => {
    const cleared: EditOperation = { ...update, value: { ...base, token: null } }
    expect(resolve([cleared], [], base, head)).toEqual([{ op: "unset", entity, path: ["token"] }])
  })
})

describe("an entity", () => {
  it("that others deleted is created again with what is set, without masks", () => {
    expect(resolve([setUrl], [[conflict("", null), "mine"]], base, undefined)).toEqual([
      { op: "create", entity, value: { kind: "gitea", base_url: "https://a", enabled: true } },
      setUrl
    ])
    expect(resolve([setUrl], [[conflict("", null), "theirs"]], base, undefined)).toEqual([])
  })

  it("that others created too is updated", () => {
    const create: EditOperation = { op: "create", entity, value: { kind: "gitlab" } }
    expect(resolve([create], [[conflict("", head), "mine"]], undefined, head)).toEqual([
      { op: "update", entity, value: { kind: "gitlab" } }
    ])
  })

  it("that both deleted stays deleted", () => {
    expect(resolve([{ op: "delete", entity }], [[conflict("", null), "mine"]], base, undefined)).toEqual([])
  })
})
