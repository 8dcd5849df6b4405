/** Fields of the configuration reach p4: sign-in, keys of servers, the client program, and further repositories. Secrets reach no argument. */
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { Effect, Logger, Redacted } from "effect"
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import { mountContext } from "../../../src/engine/read/ContextMounts.ts"
import { toTriggerServer } from "../../../src/vcs/ConfiguredServer.ts"
import { makeFakeDepot, p4Password, p4User } from "../../harness/perforce/PerforceDepot.ts"
import type { FakeDepot } from "../../harness/perforce/PerforceDepot.ts"
import { localLimits } from "../../../src/vcs/process/ProcessLimits.ts"
import { checkServer } from "../../../src/vcs/perforce/P4Session.ts"
import { layerVcs } from "../../../src/vcs/VcsLayer.ts"
import { checkingOut, describeChange, expectFailure, readRevision, root, run } from "../subversion/Revisions.ts"
import { depotServer } from "./Depots.ts"
import { inEnglish } from "../../../src/text/en.ts"

const ticket = "A".repeat(32)
const fingerprint = Array.from({ length: 20 }, () => "AB").join(":")
let depot: FakeDepot
beforeEach(() => {
  depot = makeFakeDepot()
  depot.submit("One", { files: { "//depot/main/a.c": "one\n", "//depot/main/big.txt": "x".repeat(2_000_000) } })
  depot.submit("Two", { files: { "//depot/main/a.c": "two\n" } })
})
afterEach(async () => {
  await depot[Symbol.asyncDispose]()
})

const read = async (trigger: Readonly<Record<string, unknown>>, env: Readonly<Record<string, string>> = {}) => {
  const document = {
    triggers: [{ name: "depot", kind: "perforce", port: depot.port, user: p4User, ...trigger }],
    perforce: { client_path: depot.program }
  }
  const snapshot = await Effect.runPromise(toSnapshot(document, env))
  const profile = snapshot.triggers.get("depot")
  const server = profile && toTriggerServer(profile, snapshot)
  if (server === undefined || "_tag" in server) throw new Error(server && inEnglish(server))
  return checkingOut({ server, branch: "//depot/main", head: "2", base: "1" }, readRevision)
}
const changed = async (...given: Parameters<typeof read>) => (await read(...given)).changes.map(({ path }) => path)

it("user, ticket and password, or the variables that hold them, in no argument", async () => {
  expect(await changed({ ticket })).toEqual(["a.c"])
  expect(await changed({ password: p4Password })).toEqual(["a.c"])
  const env = { USER_OF: p4User, TICKET_OF: ticket, PASSWORD_OF: p4Password }
  expect(await changed({ user: undefined, user_env: "USER_OF", ticket_env: "TICKET_OF" }, env)).toEqual(["a.c"])
  expect(await changed({ password_env: "PASSWORD_OF" }, env)).toEqual(["a.c"])
  expect(await expectFailure(read({ user: "stranger", ticket }))).toContain("unauthorized")
  await expect(read({ password_env: "UNSET" })).rejects.toThrow("UNSET")
  await expect(read({ user: undefined, ticket })).rejects.toThrow("no user")
  await expect(read({ port: undefined, ticket })).rejects.toThrow("no port")
  for (const { argv, env: used } of depot.calls()) {
    expect(argv.join(" ")).not.toContain(ticket)
    expect(argv.join(" ")).not.toContain(p4Password)
    expect(Object.values(used)).not.toContain(p4Password)
    // Variables of the caller would select another server, another user or programs to execute.
    const known =
      /^(?:PATH|TMPDIR|HOME|LC_ALL|P4(?:PORT|USER|CLIENT|TICKETS|TRUST|ENVIRO|CLIENTPATH|PASSWD)|PWD|OLDPWD|SHLVL|_)$/
    expect(Object.keys(used).filter((name) => !known.test(name))).toEqual([])
  }
})

it("a wrong password is an error for good, and an expired login is renewed once", async () => {
  const failure = await expectFailure(read({ password: "other-secret" }))
  expect(failure).toMatch(/^unauthorized: /)
  expect(failure).not.toContain("other-secret")
  // The ticket is no longer valid, the password is.
  depot.set({ tickets: [] })
  expect(await changed({ ticket, password: p4Password })).toEqual(["a.c"])
  expect(depot.calls().filter(({ argv }) => argv.includes("login"))).toHaveLength(2)
  expect(await expectFailure(read({ ticket }))).toContain("renew it (`p4 login -p`), or set password_env")
})

it("p4_fingerprint pins the key of a server over TLS, and no other is trusted", async () => {
  depot.set({ fingerprint })
  const port = "ssl:127.0.0.1:1666"
  expect(await changed({ port, ticket, p4_fingerprint: fingerprint })).toEqual(["a.c"])
  const unknown = await expectFailure(read({ port, ticket }))
  expect(unknown).toMatch(/^failed: .*set p4_fingerprint to it/)
  expect(unknown).toContain(fingerprint)
  const other = fingerprint.replace("AB", "CD")
  expect(await expectFailure(read({ port, ticket, p4_fingerprint: other }))).toContain("IDENTIFICATION HAS CHANGED")
  expect(await expectFailure(read({ ticket, p4_fingerprint: fingerprint }))).toContain("over TLS")
  expect(depot.calls().some(({ argv }) => argv.includes("-y") || argv.includes("-f"))).toBe(false)
})

it("workspace is the client of every command", async () => {
  expect(await changed({ ticket, workspace: "review-ws" })).toEqual(["a.c"])
  expect(depot.calls().every(({ env }) => env["P4CLIENT"] === "review-ws")).toBe(true)
})

it("perforce.client_path names the client, and a missing one is reported with where to get it", async () => {
  expect(await changed({ ticket })).toEqual(["a.c"])
  const { program } = depot
  Object.assign(depot, { program: "/nowhere/p4" })
  expect(await expectFailure(read({ ticket }))).toMatch(/p4 is not installed.*perforce\.client_path/)
  Object.assign(depot, { program })
})

it("port refuses forms that start programs, in the configuration and at its use", async () => {
  for (const port of ["rsh:touch /tmp/owned", "rsh:1666", "127.0.0.1"]) {
    await expect(read({ ticket, port })).rejects.toThrow("expected a server address such as host:1666")
    expect(checkServer({ ...depotServer(depot), port })?.message).toContain("invalid Perforce port")
  }
  expect(await changed({ ticket, port: "127.0.0.1:1666" })).toEqual(["a.c"])
})

describe("servers and clients of other kinds", () => {
  it.each([
    ["a unicode server", { unicode: true }],
    ["a client without JSON", { oldClient: true }],
    ["a client with another option for keywords", { newClient: true }],
    ["a server that ignores case", { insensitive: true }]
  ] as const)("%s is read", async (_, state) => {
    depot.set(state)
    const { changes, diff } = await read({ ticket })
    expect(changes).toHaveLength(1)
    expect(diff).toContain("-one\n+two\n")
  })

  it("replies that cannot be read, and refusals, are errors with their reason", async () => {
    depot.set({ disturb: [{ command: "files", how: "garbage" }] })
    expect(await expectFailure(read({ ticket }))).toContain("failed: p4 files: unreadable reply")
    depot.set({ disturb: [{ command: "files", how: "refused" }] })
    expect(await expectFailure(read({ ticket }))).toMatch(/^limit: .*MaxResults/)
    // Text in place of records is read again as text.
    depot.set({ disturb: [{ command: "files", how: "collapse" }] })
    expect(await changed({ ticket })).toEqual(["a.c"])
  })
})

it("a server that does not reply is given up after our own deadline, and a huge changelist is read in bounds", async () => {
  const server = depotServer(depot, { password: undefined, ticket: Redacted.make(ticket) })
  const describing = (number: string, fetchTimeoutMillis: number) =>
    Effect.runPromise(
      describeChange({ server, revision: number, roots: ["//depot/main"], under: undefined }).pipe(
        Effect.provide(layerVcs({ root, limits: () => localLimits, fetchTimeoutMillis }))
      )
    )
  depot.set({ disturb: [{ command: "describe", how: "hang" }] })
  expect(await expectFailure(describing("1", 700))).toBe("unreachable: p4 describe took over 0.7 s")
  depot.set({ disturb: [{ command: "describe", how: "huge" }] })
  const found = await describing("1", 120_000)
  expect(found?.streams).toMatchObject([{ branch: "//depot/main", more: true }])
  expect(found?.streams[0]?.paths).toHaveLength(20_000)
})

const mounting = (fields: Readonly<Record<string, unknown>>, env: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function* () {
    const context_repositories = [
      { alias: "lib", kind: "perforce", port: depot.port, user: p4User, depot_path: "//depot/main/...", ...fields }
    ]
    const triggers = [{ name: "depot", kind: "perforce" }]
    const instances = { w: { source_repo: { trigger: "depot", repo: "x" }, context_repositories } }
    const document = { triggers, workspaces: { instances }, perforce: { client_path: depot.program } }
    const snapshot = yield* toSnapshot(document, env)
    const workspace = snapshot.workspaces.get("w")
    if (workspace === undefined) return yield* Effect.die("no workspace")
    const { mounted, notices } = yield* mountContext(snapshot, workspace, undefined)
    const [mount] = mounted
    const limits = { maxBytes: 1000, maxNames: 10 }
    const search = { texts: ["o"], ignoreCase: false, words: false, under: "" }
    return {
      notices: notices.map(inEnglish),
      revision: mount?.commit,
      file: mount && (yield* mount.read("a.c", limits)),
      root: mount && (yield* mount.read("", limits)),
      outside: mount && (yield* mount.read("../../", limits)),
      found: mount && (yield* mount.search.filesWith(search, 5)).paths
    }
  }).pipe(Effect.scoped, Effect.provide(Logger.layer([])))

describe("a context repository", () => {
  it("has depot_path, port, user, ticket and revision", async () => {
    expect(await run(mounting({ ticket }))).toEqual({
      notices: [],
      revision: "2",
      file: { _tag: "File", text: "two\n" },
      root: { _tag: "Directory", names: ["a.c", "big.txt"], more: 0 },
      outside: { _tag: "Refused", why: "no such file or directory" },
      found: ["a.c"]
    })
    const env = { USER_OF: p4User, TICKET_OF: ticket, PASSWORD_OF: p4Password }
    const byTicket = { user: undefined, user_env: "USER_OF", ticket_env: "TICKET_OF", revision: 1 }
    expect((await run(mounting(byTicket, env))).file).toEqual({ _tag: "File", text: "one\n" })
    expect((await run(mounting({ password: p4Password, revision: "1" }))).file).toEqual({ _tag: "File", text: "one\n" })
    expect((await run(mounting({ password_env: "PASSWORD_OF" }, env))).revision).toBe("2")
    for (const [fields, text] of [
      [{ ticket, depot_path: "//nowhere/..." }, "has no submitted files"],
      [{ ticket, depot_path: "//depot/main/...@1" }, "invalid depot path"],
      [{ ticket, port: undefined }, "it has no port"],
      [{ ticket: "B".repeat(32) }, "does not accept the ticket"],
      [{ ticket, revision: "1;2" }, "invalid revision"]
    ] as const)
      expect(await run(mounting(fields))).toMatchObject({
        revision: undefined,
        notices: [expect.stringContaining(text)]
      })
  })

  it("has p4_fingerprint", async () => {
    depot.set({ fingerprint })
    const port = "ssl:127.0.0.1:1666"
    expect((await run(mounting({ ticket, port, p4_fingerprint: fingerprint }))).revision).toBe("2")
    expect((await run(mounting({ ticket, port }))).notices[0]).toContain("set p4_fingerprint")
  })

  it("over max_mb is not transferred", async () => {
    const large = await run(mounting({ ticket, max_mb: 1 }))
    expect(large).toMatchObject({ revision: undefined, notices: [expect.stringContaining("larger than 1 MiB")] })
    expect(depot.calls().some(({ argv }) => argv.includes("print"))).toBe(false)
  })

  it("of many files is fetched by one command, and nothing is written through a link", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 25 }, (_, index) => [`//depot/many/f${index}.c`, `int o${index};\n`])
    )
    depot.submit("Many", { files: { ...many, "//depot/many/link": "f1.c" }, types: { "//depot/many/link": "symlink" } })
    const found = await run(mounting({ ticket, depot_path: "//depot/many/..." }))
    expect(found.found).toHaveLength(5)
    expect(depot.calls().filter(({ argv }) => argv.includes("print"))).toHaveLength(1)
    // A file below the link would be written to its target.
    const target = join(depot.folder, "outside")
    symlinkSync(depot.folder, target)
    depot.submit("Trap", {
      files: { "//depot/many/trap": depot.folder, "//depot/many/trap/owned": "o\n" },
      types: { "//depot/many/trap": "symlink" }
    })
    expect((await run(mounting({ ticket, depot_path: "//depot/many/..." }))).notices).toEqual([])
    expect(() => depot.state()).not.toThrow()
    expect(
      depot
        .calls()
        .filter(({ argv }) => argv.includes("print"))
        .every(({ argv }) => !argv.includes(`${depot.folder}/owned`))
    ).toBe(true)
    const { existsSync } = await import("node:fs")
    expect(existsSync(join(depot.folder, "owned"))).toBe(false)
  })
})
