/** A Perforce depot for tests. The client of the fake one is `FakeP4.ts`; `RealPerforce.ts` has the same interface over a real p4d. */
import { createServer } from "node:http"
import type { Server } from "node:http"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { readState, writeState } from "./DepotState.ts"
import { readRaw } from "../../../src/vcs/perforce/RawText.ts"
import { callFakeP4 } from "./FakeP4.ts"
import type { DepotState, ShelvedFile, StoredRevision } from "./DepotState.ts"

export const p4User = "reviewer"
export const p4Password = "p@ss word-7%"

/** Content of a depot file; null deletes it. */
export interface P4Edit {
  readonly files?: Readonly<Record<string, string | Uint8Array | null>>
  readonly types?: Readonly<Record<string, string>>
  /** Target by source. */
  readonly move?: Readonly<Record<string, string>>
  readonly branch?: Readonly<Record<string, string>>
  readonly user?: string
  readonly client?: string
  /** Time of the submit of the fake one, in seconds since the epoch. */
  readonly time?: number
  /** Number of the pending changelist that the fake one submits, which gets the next number. */
  readonly pending?: string
}

export interface PerforceDepot extends AsyncDisposable {
  readonly port: string
  readonly program: string
  /** Submits and returns the number. */
  readonly submit: (description: string, edit: P4Edit) => string
  /** Shelves files in a new changelist, or in `change` again, and returns its number. */
  readonly shelve: (description: string, edit: P4Edit, change?: string) => string
}

export interface LoggedCall {
  readonly argv: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string | undefined>>
}

export interface FakeDepot extends PerforceDepot {
  readonly folder: string
  readonly state: () => DepotState
  readonly set: (change: Partial<DepotState>) => void
  /** Deletes a shelf, and its changelist too unless that is kept. */
  readonly abandon: (change: string, isKept?: boolean) => void
  readonly calls: () => ReadonlyArray<LoggedCall>
}

const initial: DepotState = {
  unicode: false,
  insensitive: false,
  oldClient: false,
  newClient: false,
  user: p4User,
  password: p4Password,
  tickets: ["A".repeat(32)],
  fingerprint: undefined,
  depots: [
    { name: "depot", type: "local", depth: 1 },
    { name: "Ace", type: "stream", depth: 1 }
  ],
  changes: [],
  files: {},
  disturb: [],
  lost: [],
  clients: {},
  opened: []
}

const toBase64 = (content: string | Uint8Array): string => Buffer.from(content).toString("base64")

export const makeFakeDepot = (): FakeDepot => {
  const folder = mkdtempSync(join(tmpdir(), "aicr-p4-"))
  const program = join(folder, "p4")
  writeState(folder, initial)
  writeFileSync(program, client(folder), { mode: 0o755 })
  const calls: Array<LoggedCall> = []
  const server = serveCalls(folder, calls)
  const state = () => readState(folder)
  const set = (change: Partial<DepotState>) => writeState(folder, { ...state(), ...change })

  const submit = (description: string, edit: P4Edit): string => {
    const now = state()
    const change = Math.max(0, ...now.changes.map((one) => one.change)) + 1
    const add = (file: string, next: Omit<StoredRevision, "rev" | "change">) => {
      const revisions = (now.files[file] ??= [])
      revisions.push({ ...next, change, rev: revisions.length + 1 })
    }
    const newest = (file: string) => now.files[file]?.at(-1)
    const exists = (file: string) => !(newest(file)?.action ?? "delete").endsWith("delete")
    const typeOf = (file: string) => edit.types?.[file] ?? newest(file)?.type ?? "text"
    const edited = new Map(Object.entries(edit.files ?? {}))
    for (const [how, pairs] of [
      ["move", edit.move ?? {}],
      ["branch", edit.branch ?? {}]
    ] as const)
      for (const [source, target] of Object.entries(pairs)) {
        const from = newest(source)
        const given = edited.get(target)
        edited.delete(target)
        const content = given === undefined || given === null ? (from?.content ?? "") : toBase64(given)
        const integration = { how: how === "move" ? "moved from" : "branch from", file: source, erev: from?.rev ?? 1 }
        add(target, {
          action: how === "move" ? "move/add" : given === undefined ? "branch" : "add",
          type: from?.type ?? "text",
          content,
          integration
        })
        if (how === "move") add(source, { action: "move/delete", type: from?.type ?? "text", content: "" })
      }
    for (const [file, content] of edited) {
      if (content === null) add(file, { action: "delete", type: typeOf(file), content: "" })
      else add(file, { action: exists(file) ? "edit" : "add", type: typeOf(file), content: toBase64(content) })
    }
    now.changes.push({
      change,
      user: edit.user ?? "ada",
      client: edit.client ?? "ada-laptop",
      desc: description,
      time: edit.time ?? 1_700_000_000 + change,
      status: "submitted",
      shelf: [],
      ...(edit.pending === undefined ? {} : { oldChange: Number(edit.pending) })
    })
    now.changes = now.changes.filter((one) => String(one.change) !== edit.pending)
    writeState(folder, now)
    return String(change)
  }

  const shelve = (description: string, edit: P4Edit, given?: string): string => {
    const now = state()
    const change = given === undefined ? Math.max(0, ...now.changes.map((one) => one.change)) + 1 : Number(given)
    const shelf = Object.entries(edit.files ?? {}).map(([depotFile, content]): ShelvedFile => {
      const newest = now.files[depotFile]?.at(-1)
      const isNew = newest === undefined || newest.action.endsWith("delete")
      return {
        depotFile,
        action: content === null ? "delete" : isNew ? "add" : "edit",
        type: edit.types?.[depotFile] ?? newest?.type ?? "text",
        rev: isNew ? undefined : newest.rev,
        content: content === null ? "" : toBase64(content)
      }
    })
    const entry = {
      change,
      user: edit.user ?? "ada",
      client: edit.client ?? "ada-laptop",
      desc: description,
      time: 1_700_000_000 + change,
      status: "pending",
      shelf
    } as const
    writeState(folder, { ...now, changes: [...now.changes.filter((one) => one.change !== change), entry] })
    return String(change)
  }

  const abandon = (change: string, isKept = false) => {
    const changes = state().changes.flatMap((one) =>
      String(one.change) !== change ? [one] : isKept ? [{ ...one, shelf: [] }] : []
    )
    set({ changes })
  }

  return {
    folder,
    program,
    abandon,
    port: "127.0.0.1:1666",
    submit,
    shelve,
    state,
    set,
    calls: () => [...calls],
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/**
 * The client that reviews execute. It sends its arguments, environment and input to this process, because a process of node for each call
 * would make the suites slow.
 */
const client = (folder: string): string => `#!/bin/sh
reply=$({
  printf '%s\\0' "$@"
  printf '\\0'
  env -0
  printf '\\0'
  cat
} | curl -s --unix-socket '${folder}/socket' --data-binary @- http://p4/)
[ -n "$reply" ] || exit 1
cat '${folder}/'"\${reply%% *}.out"
cat '${folder}/'"\${reply%% *}.err" >&2
exit "\${reply##* }"
`

const serveCalls = (folder: string, calls: Array<LoggedCall>): Server => {
  let count = 0
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      // Names may have other bytes than those of UTF-8.
      const text = readRaw(Buffer.concat(chunks).toString("latin1"))
      const [first, second] = [text.indexOf("\0\0"), text.indexOf("\0\0", text.indexOf("\0\0") + 2)]
      const argv = text.slice(0, first).split("\0")
      const pairs = text.slice(first + 2, second).split("\0")
      const env = Object.fromEntries(
        pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)])
      )
      calls.push({ argv, env })
      const reply = callFakeP4({ folder, argv, env, stdin: text.slice(second + 2) })
      if (reply === undefined) return
      const name = `reply${++count}`
      writeFileSync(join(folder, `${name}.out`), reply.stdout)
      writeFileSync(join(folder, `${name}.err`), reply.stderr)
      response.end(`${name} ${reply.code}`)
    })
  })
  server.listen(join(folder, "socket"))
  server.unref()
  return server
}
