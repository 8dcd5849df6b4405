/**
 * Random edits on every way into the database: a credential whose plain text is not part of an edit goes where it went when it was entered,
 * whatever is renamed, moved, deleted, created again, restored, copied or merged.
 */
import { assert, describe, expect, it } from "@effect/vitest"
import { Effect, Logger, Redacted, Result } from "effect"
import * as fc from "fast-check"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { replaceCredentials } from "../../../src/config/credentials/ReplaceCredentials.ts"
import { applyOperations } from "../../../src/config/revisions/ApplyOperations.ts"
import { ConfigEditor } from "../../../src/config/revisions/ConfigEditor.ts"
import type { DraftInput, DraftOutcome, EditOutcome } from "../../../src/config/revisions/ConfigEditor.ts"
import type { DatabaseDocument } from "../../../src/config/revisions/DatabaseDocument.ts"
import type { EntityKind } from "../../../src/config/revisions/Entities.ts"
import { readCombined } from "../../../src/config/revisions/FileBaseline.ts"
import { loadRevision } from "../../../src/config/revisions/LoadRevisions.ts"
import type { ConfigOperation } from "../../../src/config/revisions/Operations.ts"
import { makeFindInFile } from "../../../src/config/revisions/Overlay.ts"
import { RevisionStore } from "../../../src/config/revisions/RevisionStore.ts"
import { isSealed } from "../../../src/config/credentials/Sealing.ts"
import type { Snapshot } from "../../../src/config/Snapshot.ts"
import { editorAlone } from "../../harness/ConfigSource.ts"

const scale = Number(process.env["AICR_TEST_SCALE"] ?? 1)
const mask = "********"
const names = ["a", "b", "c"] as const
const hosts = ["https://one.example", "https://two.example", "https://three.example"] as const

/** A kind of entity with one credential: its fields, and where its address and its credential are. */
interface Kind {
  readonly value: (host: string, secret: string | undefined, name: string) => Readonly<Record<string, unknown>>
  readonly address: ReadonlyArray<string>
  readonly secret: ReadonlyArray<string>
}

const optional = (name: string, secret: string | undefined) => (secret === undefined ? {} : { [name]: secret })

const kinds = {
  providers: {
    value: (base_url, secret) => ({ kind: "openai_compatible", base_url, ...optional("api_key", secret) }),
    address: ["base_url"],
    secret: ["api_key"]
  },
  triggers: {
    value: (base_url, secret) => ({ kind: "gitea", base_url, ...optional("token", secret) }),
    address: ["base_url"],
    secret: ["token"]
  },
  channels: {
    value: (_, secret, name) => ({ kind: "gitea_pr_review", trigger: name, ...optional("token", secret) }),
    address: ["trigger"],
    secret: ["token"]
  },
  im_connections: {
    value: (base_url, secret) => ({ kind: "feishu_app", app_id: "x", base_url, ...optional("app_secret", secret) }),
    address: ["base_url"],
    secret: ["app_secret"]
  },
  workspaces: {
    value: (url, secret, name) => ({
      match: [{ id: "m", source: { repo_ref: { exact: name } } }],
      context_repositories: [{ alias: "lib", kind: "git", url, ...optional("token", secret) }],
      agent: {
        web_search: { credentials: secret === undefined ? {} : { searxng: { value: `${secret}-search` } } }
      }
    }),
    address: ["context_repositories", "lib", "url"],
    secret: ["context_repositories", "lib", "token"]
  }
} satisfies Partial<Record<EntityKind, Kind>>
const kindNames = ["channels", "im_connections", "providers", "triggers", "workspaces"] as const

/** The addresses to which a configuration sends each credential, by its plain text. */
type Receivers = ReadonlyMap<string, string>

const receiversIn = ({ document, triggers, workspaces }: Snapshot): Receivers => {
  const found = new Map<string, Array<string>>()
  const put = (secret: unknown, receiver: string): void => {
    if (!Redacted.isRedacted(secret)) return
    const text = String(Redacted.value(secret))
    found.set(text, [...(found.get(text) ?? []), receiver])
  }
  for (const { api_key, base_url, kind } of document.llm.providers) put(api_key, `${kind} ${base_url}`)
  for (const { baseUrl, token } of triggers.values()) put(token, `host ${baseUrl}`)
  for (const { token, trigger } of document.outputs.channels) {
    const served = trigger === undefined ? [...triggers.values()] : [triggers.get(trigger)]
    put(token, `hosts ${[...new Set(served.map((one) => one?.baseUrl))].toSorted().join(" ")}`)
  }
  for (const { app_secret, base_url } of Object.values(document.im.connections)) put(app_secret, `chat ${base_url}`)
  for (const { agent, contextRepositories } of workspaces.values()) {
    for (const { token, url } of contextRepositories) put(token, `repository ${url}`)
    for (const given of Object.values(agent.web_search.credentials))
      put(Object(given)["value"], `search ${agent.web_search.searxng.endpoint}`)
  }
  return new Map([...found].map(([text, all]) => [text, [...new Set(all)].toSorted().join(", ")]))
}

interface Act {
  readonly op: "address" | "create" | "delete" | "enabled" | "rename" | "secret" | "unset" | "update"
  readonly name: number
  readonly other: number
  readonly host: number
}

interface Step {
  readonly way: "copy" | "draft" | "export" | "publish" | "publishDraft" | "restore" | "save" | "search" | "yamlDraft"
  readonly kind: (typeof kindNames)[number]
  readonly acts: ReadonlyArray<Act>
  /** Number of revisions that the editor has missed. */
  readonly behind: number
  /** Credentials of a draft or a document are masked in its next version. */
  readonly host: number
  readonly other: number
}

const index = fc.integer({ min: 0, max: 2 })
const act: fc.Arbitrary<Act> = fc.record({
  op: fc.constantFrom(
    ...(["address", "address", "rename", "rename", "rename", "create", "create"] as const),
    ...(["delete", "enabled", "secret", "unset", "update"] as const)
  ),
  name: index,
  other: index,
  host: index
})
const step: fc.Arbitrary<Step> = fc.record({
  way: fc.constantFrom(
    ...(["publish", "publish", "publish", "draft", "copy", "save", "publishDraft", "publishDraft"] as const),
    ...(["export", "restore", "search", "yamlDraft"] as const)
  ),
  kind: fc.constantFrom(...kindNames),
  acts: fc.array(act, { minLength: 1, maxLength: 4 }),
  behind: fc.constantFrom(0, 0, 0, 1, 2),
  host: index,
  other: index
})

/** The names of the entities of a kind after each operation, so that most operations apply. */
const toOperations = (
  { acts, kind }: Step,
  present: ReadonlyArray<string>,
  secret: () => string
): ReadonlyArray<ConfigOperation> => {
  const living = new Set(present)
  const { address, secret: field, value } = kinds[kind]
  return acts.flatMap(({ host, name, op, other }): ReadonlyArray<ConfigOperation> => {
    const free = names.filter((one) => !living.has(one))
    const alive = [...living].toSorted()
    const at = alive[name % Math.max(1, alive.length)]
    const next = free[other % Math.max(1, free.length)]
    const to = hosts[host] ?? hosts[0]
    if (op === "create" || at === undefined) {
      if (next === undefined) return []
      living.add(next)
      const text = host === 0 ? undefined : secret()
      return [{ op: "create", entity: { kind, name: next }, value: value(to, text, names[other] ?? "a") }]
    }
    const entity = { kind, name: at }
    switch (op) {
      case "address":
        return [{ op: "set", entity, path: address, value: kind === "channels" ? (names[host] ?? "a") : to }]
      case "delete":
        living.delete(at)
        return [{ op: "delete", entity }]
      case "enabled":
        return [{ op: "set_enabled", entity, enabled: host !== 0 }]
      case "rename":
        if (next === undefined) return []
        living.delete(at)
        living.add(next)
        return [{ op: "rename", entity, to: next }]
      case "secret":
        return [{ op: "set", entity, path: field, value: secret() }]
      case "unset":
        return [{ op: "unset", entity, path: kind === "channels" ? address : field }]
      case "update":
        return [{ op: "update", entity, value: value(to, undefined, names[other] ?? "a") }]
    }
  })
}

const typedIn = (given: unknown): ReadonlyArray<string> => [
  ...new Set(JSON.stringify(given).match(/typed-\d+(?:-search)?/g))
]
const withMasks = (operations: ReadonlyArray<ConfigOperation>): ReadonlyArray<ConfigOperation> =>
  JSON.parse(JSON.stringify(operations).replaceAll(/typed-\d+(?:-search)?/g, mask))

/** Performs the steps, and checks each configuration that they put in force. */
const play = Effect.fnUntraced(function* (steps: ReadonlyArray<Step>) {
  const editor = yield* ConfigEditor
  const config = yield* ConfigStore
  const revisions = yield* RevisionStore
  const entered = new Map<string, string | undefined>()
  let typed = 0
  let draft: { readonly id: string; readonly version: number; readonly input: DraftInput } | undefined
  const secret = (): string => `typed-${typed++}`
  const log: Array<string> = []

  const check = (texts: ReadonlyArray<string>): void => {
    for (const [text, receiver] of receiversIn(config.current())) {
      if (texts.includes(text)) entered.set(text, receiver)
      else assert.strictEqual(receiver, entered.get(text), `${text} is sent elsewhere:\n${log.join("\n")}`)
    }
  }
  const published = (outcome: EditOutcome, texts: ReadonlyArray<string>): void => {
    log.push(outcome._tag)
    if (outcome._tag === "Committed") check(texts)
  }
  /** Keeps where the person who types a credential into a draft sends it. */
  const saved = Effect.fnUntraced(function* (
    outcome: DraftOutcome,
    input: DraftInput,
    operations: ReadonlyArray<ConfigOperation>
  ) {
    log.push(outcome._tag)
    if (outcome._tag !== "Saved") return
    draft = { id: outcome.draft.id, version: outcome.draft.version, input }
    const base = yield* loadRevision(revisions, input.base)
    const baseline = config.layered()?.baseline ?? assert.fail("no database")
    const open = replaceCredentials(base?.document, (one) =>
      isSealed(String(Redacted.value(one))) ? Redacted.make("held") : one
    ) as DatabaseDocument
    const context = { file: baseline.file, findInFile: makeFindInFile(baseline.file) }
    const applied = applyOperations(open, JSON.parse(JSON.stringify(operations).replaceAll(mask, "held")), context)
    const snapshot = Result.isSuccess(applied) ? readCombined(applied.success, baseline).snapshot : undefined
    const receivers = snapshot === undefined ? new Map<string, string>() : receiversIn(snapshot)
    for (const text of typedIn(operations)) entered.set(text, receivers.get(text))
  })

  for (const [at, one] of steps.entries()) {
    const { head } = yield* editor.status
    const base = Math.max(0, head - one.behind)
    const held = yield* loadRevision(revisions, base)
    const present = Object.keys(held?.document.entities[one.kind] ?? {})
    const operations = toOperations(one, present, secret)
    const operationId = `step-${at}`
    log.push(`${one.way} ${JSON.stringify(operations)} base ${base}`)
    const facts = { title: "t", reason: "", base }
    switch (one.way) {
      case "publish":
        if (operations.length > 0)
          published(yield* editor.publish("alice", { base, operationId, operations }), typedIn(operations))
        break
      case "search": {
        const path = ["agent", "web_search", "searxng", "endpoint"]
        const where = one.other === 0 ? path : ["workspaces", "defaults", ...path]
        const set: ConfigOperation = { op: "set", path: where, value: hosts[one.host] }
        published(yield* editor.publish("mallory", { base, operationId, operations: [set] }), [])
        break
      }
      case "draft": {
        const input = { ...facts, operations }
        if (operations.length > 0) yield* saved(yield* editor.createDraft("alice", input), input, operations)
        break
      }
      case "copy":
      case "save": {
        if (draft === undefined || !("operations" in draft.input)) break
        const kept = withMasks(draft.input.operations)
        const next = one.other === 0 ? [...kept, ...operations] : one.other === 1 ? [...operations, ...kept] : kept
        const text = JSON.stringify(next)
        const moved: ReadonlyArray<ConfigOperation> =
          one.host === 0 ? next : JSON.parse(text.replaceAll(hosts[0], hosts[one.host] ?? hosts[0]))
        const input = { ...facts, operations: moved }
        const outcome =
          one.way === "copy"
            ? yield* editor.createDraft("mallory", input, draft.id)
            : yield* editor.saveDraft("mallory", draft.id, draft.version, input)
        yield* saved(outcome, input, moved)
        break
      }
      case "publishDraft": {
        if (draft === undefined) break
        const { id, version } = draft
        draft = undefined
        published(yield* editor.publishDraft("mallory", id, { operationId, version }), [])
        break
      }
      case "export":
      case "yamlDraft": {
        const known = draft === undefined ? undefined : yield* editor.draftDocument(draft.id)
        const text = known?._tag === "Document" ? known.yaml : yield* editor.exportYaml("alice")
        const [from, to] = [hosts[one.host] ?? hosts[0], hosts[one.other] ?? hosts[0]]
        const swapped = one.behind === 1 ? text.replaceAll(/^ {4}a:/gm, "    b:") : text
        const fresh = one.acts.length === 1 ? swapped.replace(mask, secret()) : swapped
        const yaml = fresh.replaceAll(from, to)
        if (one.way === "export") {
          const imported = yield* editor.importYaml("mallory", yaml)
          if (imported._tag === "Operations" && imported.operations.length > 0)
            published(yield* editor.publish("mallory", { operationId, ...imported }), typedIn(imported.operations))
        } else if (draft !== undefined) {
          // Versions of YAML contain masks only.
          const input = { ...facts, yaml: swapped.replaceAll(from, to) }
          yield* saved(yield* editor.saveDraft("mallory", draft.id, draft.version, input), input, [])
        }
        break
      }
      case "restore":
        if (base > 0) published(yield* editor.restore("mallory", { revision: base, operationId }), [])
        break
    }
  }
})

const run = (steps: ReadonlyArray<Step>): Promise<void> =>
  Effect.runPromise(
    Effect.scoped(Effect.provide(play(steps), [editorAlone({ document: { allow_empty: true } }), Logger.layer([])]))
  )

const acts = (...list: ReadonlyArray<Partial<Act> & Pick<Act, "op">>): ReadonlyArray<Act> =>
  list.map((one) => ({ name: 0, other: 0, host: 1, ...one }))
const stepOf = (one: Partial<Step> & Pick<Step, "way">): Step => ({
  kind: "providers",
  acts: acts({ op: "create" }),
  behind: 0,
  host: 1,
  other: 1,
  ...one
})

/** Sequences that were judged wrongly once. */
const known: ReadonlyArray<ReadonlyArray<Step>> = [
  ...kindNames.map((kind) => [
    stepOf({ way: "publish", kind: "triggers", acts: acts({ op: "create" }, { op: "create", host: 2 }) }),
    stepOf({ way: "publish", kind }),
    stepOf({ way: "publish", kind, acts: acts({ op: "rename" }, { op: "address", host: 2 }, { op: "rename" }) })
  ]),
  [stepOf({ way: "publish", kind: "workspaces" }), stepOf({ way: "search" })],
  [
    stepOf({ way: "draft", acts: acts({ op: "create" }, { op: "delete" }) }),
    stepOf({ way: "save", other: 2 }),
    stepOf({ way: "publishDraft" })
  ],
  [
    stepOf({ way: "publish", kind: "im_connections" }),
    stepOf({ way: "draft" }),
    stepOf({ way: "publish", kind: "channels" }),
    stepOf({ way: "publishDraft" })
  ]
]

describe("a credential goes where it was entered for", () => {
  it.each(known.map((steps, at) => [at + 1, steps] as const))("after sequence %i", async (_, steps) => {
    await expect(run(steps)).resolves.toBeUndefined()
  })

  it("after any sequence of edits", { timeout: 600_000 }, () =>
    expect(
      fc.assert(fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 9 }), run), { numRuns: 25 * scale })
    ).resolves.toBeUndefined()
  )
})
