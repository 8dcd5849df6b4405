/** Changes of the code of merged findings a month later, from the mirror of their repository, or from the server of a submitted change. */
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { lookLater } from "../../../actors/outcomes/LaterLook.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { LeaseToken } from "../../../src/domain/FencingToken.ts"
import { toEvidenceFile } from "../../../src/review/EvidenceLines.ts"
import { takeEvidence } from "../../../src/review/TakeEvidence.ts"
import { Runs } from "../../../src/store/Runs.ts"
import * as Store from "../../../src/store/StoreLayer.ts"
import { makeStaticStore } from "../../../src/config/snapshots/FileConfigStore.ts"
import type { TriggerProfile } from "../../../src/config/Snapshot.ts"
import { layerVcs } from "../../../src/vcs/VcsLayer.ts"
import { Vcs } from "../../../src/vcs/Checkout.ts"
import { localLimits } from "../../../src/vcs/process/ProcessLimits.ts"
import { testSnapshotWith } from "../../harness/ActorParts.ts"
import { makeFakeDepot, p4Password, p4User } from "../../harness/perforce/PerforceDepot.ts"
import { SvnRepository } from "../../harness/Subversion.ts"
import { testSnapshot } from "../../harness/TestSnapshot.ts"
import { triggerDefaults } from "../../harness/TriggerDefaults.ts"
import { layerGit } from "../../harness/GitLayer.ts"
import { testThreads } from "../../harness/Threads.ts"
import { publishing } from "../../store/Outcomes.ts"
import { startGitServer } from "../../vcs/GitServer.ts"
import type { GitServer } from "../../vcs/GitServer.ts"
import { makeRepository, temporaryFolder } from "../../vcs/Repository.ts"

const day = 86_400_000
const kept = "const total = items[index + 1].price * rate"
const repaired = "const user = find(input.name.toLowerCase())"
const text = (...lines: ReadonlyArray<string>) =>
  ["function pay(input) {", ...lines.map((line) => `  ${line}`), "}"].join("\n")
const repairedLater = text(kept, "log(total)", "const user = findSafely(input)", "return user")
const merged = text(kept, "log(total)", repaired, "return user")

const folder = temporaryFolder()
const repository = makeRepository(join(folder, "app.git"))
let server: GitServer
let settledHead = ""
let tip = ""
beforeAll(async () => {
  repository.write("a.ts", merged)
  settledHead = repository.commit("merged")
  repository.write("a.ts", repairedLater)
  tip = repository.commit("repaired later")
  server = await startGitServer({ root: folder })
})
afterAll(() => server.close())

const finding = (fingerprint: string, line: number) => {
  const anchor = { path: "a.ts", side: "new", line } as const
  const evidence = takeEvidence(anchor, toEvidenceFile(merged))
  const problem = { file: "a.ts", severity: "high", category: "bug", message: "Wrong" } as const
  return { fingerprint, problem, anchor, ...(evidence === undefined ? {} : { evidence }) }
}

const depot = makeFakeDepot()
const subversion = new SvnRepository()
afterAll(() => depot[Symbol.asyncDispose]())
afterAll(() => subversion[Symbol.dispose]())

/** Submits the merged file and its repair. */
const submitted = {
  perforce: () => ({
    settings: { port: depot.port, user: p4User, password: p4Password },
    branch: "//Ace/main",
    revisions: [merged, repairedLater].map((content) =>
      depot.submit("Change", { files: { "//Ace/main/a.ts": content } })
    )
  }),
  subversion: () => ({
    settings: { repository_url: subversion.url },
    branch: "trunk",
    revisions: [merged, repairedLater].map((content) =>
      subversion.commit("Change", { files: { "trunk/a.ts": content } })
    )
  })
}

/** A configuration with a trigger of the server, in place of that of the host. */
const storeOfServer = (kind: "perforce" | "subversion", settings: object): ConfigStore["Service"] => {
  const document = testSnapshot({ perforce: { client_path: depot.program } })
  const name = "main"
  const profile: TriggerProfile = {
    name,
    kind,
    enabled: true,
    webhookSecret: undefined,
    token: undefined,
    baseUrl: undefined,
    apiUrl: undefined,
    settings: { name, kind, ...triggerDefaults, ...settings }
  }
  return makeStaticStore({ ...document, triggers: new Map([[name, profile]]) })
}

const later = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ later: string | null }>`SELECT later FROM finding_outcomes ORDER BY fingerprint`
  return rows.map((row) => row.later)
})

/** Fetches the commits, as reviews of other changes do. */
const fetchCommits = Effect.scoped(
  Effect.flatMap(Vcs, (vcs) =>
    vcs.checkout({
      url: `${server.url}/app.git/.git`,
      mirror: "main/Acme/App",
      authorization: undefined,
      head: tip,
      base: settledHead,
      headRef: "refs/heads/main",
      baseRef: undefined,
      compare: "endpoints",
      rules: undefined
    })
  )
)

const servers = Layer.mergeAll(
  Store.layerMemory,
  testThreads,
  layerVcs({ root: temporaryFolder(), limits: () => localLimits })
)

const world = Layer.mergeAll(
  Store.layerMemory,
  testThreads,
  layerGit({ root: temporaryFolder(), limits: () => localLimits }),
  Layer.succeed(ConfigStore, testSnapshotWith("app", "main"))
)

/** Stores two findings that were merged a month ago. */
const mergedFindings = Effect.fnUntraced(function* (more: Parameters<typeof publishing>[2] = {}) {
  const run = yield* publishing(1, LeaseToken.make(1), { findings: [finding("a", 2), finding("b", 4)], ...more })
  yield* (yield* Runs).settle(run.id, "succeeded", { partial: false, by: { agent: "native-llm", maxProblems: 50 } }, 10)
})

it.effect.each(["perforce", "subversion"] as const)(
  "is decided at a server of %s, from the newest reviewed revision",
  (provider) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { branch, revisions, settings } = submitted[provider]()
      const [head, newest] = revisions
      const look = Effect.provideService(lookLater, ConfigStore, storeOfServer(provider, settings))
      yield* mergedFindings({ kind: "push", provider })
      yield* sql`UPDATE finding_outcomes SET settled_at = ${day}, base_ref = ${branch}, settled_head = ${head}`
      yield* sql`UPDATE runs SET head = ${head}, target_key = ${`main:acme/app:push:${branch}`}`
      yield* TestClock.adjust(40 * day)
      yield* look
      assert.deepStrictEqual(yield* later, [null, null])
      yield* sql`UPDATE runs SET head = ${newest}`
      yield* look
      assert.deepStrictEqual(yield* later, ["kept", "changed"])
    }).pipe(Effect.provide(Layer.fresh(servers)))
)

it.effect("is decided once a month has passed and the mirror has the commits, without a request", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* mergedFindings()
    yield* sql`UPDATE runs SET base = ${tip}, base_ref = 'main'`
    yield* sql`
      UPDATE finding_outcomes SET outcome = 'open_at_merge', settled = 'merged', settled_at = ${day}, base_ref = 'main',
        settled_head = ${settledHead}`
    yield* TestClock.adjust(40 * day)
    yield* lookLater
    assert.deepStrictEqual(yield* later, [null, null])
    assert.deepStrictEqual(server.requests, [])

    yield* fetchCommits
    const requests = server.requests.length
    yield* sql`UPDATE finding_outcomes SET settled_at = ${20 * day}`
    yield* lookLater
    assert.deepStrictEqual(yield* later, [null, null])
    yield* sql`UPDATE finding_outcomes SET settled_at = ${day}`
    yield* lookLater
    assert.deepStrictEqual(yield* later, ["kept", "changed"])
    assert.lengthOf(server.requests, requests)
  }).pipe(Effect.provide(world))
)
