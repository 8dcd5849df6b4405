/** A host of each kind with one pull request, and its client without pauses between writes. */
import { Duration, Effect } from "effect"
import type { Repo } from "../../src/domain/Change.ts"
import type { InlineComment } from "../../src/domain/Publication.ts"
import type { ForgeClient, PendingPolicy } from "../../src/forge/Forge.ts"
import type { ForgeError } from "../../src/forge/ForgeError.ts"
import { forgeTable } from "../../src/forge/hosts/ForgeTable.ts"
import { WriteGap } from "../../src/forge/Pacing.ts"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import type { ForgeKind } from "../../src/domain/Kinds.ts"
import { startFakeForge } from "../harness/FakeForge.ts"
import type { FakeForge } from "../harness/FakeForge.ts"
import { newTraffic, owned } from "../harness/Owners.ts"
import type { Owners } from "../harness/Owners.ts"

export interface Host {
  readonly forge: FakeForge
  readonly pull: DemoPull
  readonly repo: Repo
  readonly client: ForgeClient
}

export const repoName = "team/shop"

/** Policy of a review under an account of its own. */
export const alone: PendingPolicy = { isResumed: false, settle: () => Effect.void }

const before = Array.from({ length: 40 }, (_, i) => `line ${i + 1}`).join("\n")
const after = before
  .replace("line 20", "line twenty")
  .replace("line 22\n", "")
  .replace("line 30", "line thirty\nline thirty and a half")

/** `src/a b.txt`: line 20 changed, old line 22 removed, new lines 29 and 30 changed and added. */
export const file = "src/a b.txt"

/** Shared by the clients of all tests of a file. */
const traffic = newTraffic()

export const startHost = async (kind: ForgeKind): Promise<Host> => {
  const forge = await startFakeForge(kind)
  await forge.createRepository(repoName)
  await forge.push(repoName, { branch: "main", message: "start", files: { [file]: `${before}\n` } })
  await forge.push(repoName, { branch: "feature/x", from: "main", message: "change", files: { [file]: `${after}\n` } })
  const pull = await forge.createPull(repoName, {
    title: "Change lines",
    description: "Says what it does",
    headBranch: "feature/x",
    labels: ["bug"]
  })
  return { forge, pull, repo: { fullName: repoName }, client: forgeTable[kind].client(forge.profile(), traffic) }
}

/** Runs a call as its own process would: nothing paced by earlier tests, no pause between writes. */
export const run = <A>(effect: Effect.Effect<A, ForgeError, Owners>): Promise<A> => Effect.runPromise(unpaced(effect))

export const failure = <A>(effect: Effect.Effect<A, ForgeError, Owners>): Promise<ForgeError> =>
  Effect.runPromise(Effect.flip(unpaced(effect)))

export const unpaced = <A, E>(effect: Effect.Effect<A, E, Owners>): Effect.Effect<A, E> =>
  Effect.andThen(
    Effect.sync(() => traffic.paces.clear()),
    effect.pipe(Effect.provideService(WriteGap, Duration.zero), owned)
  )

export const changed = (body: string): InlineComment => ({ path: file, side: "new", line: 20, body })
export const removed = (body: string): InlineComment => ({ path: file, side: "old", line: 22, body })
export const context = (body: string): InlineComment => ({
  path: file,
  side: "new",
  line: 19,
  oldLine: 19,
  newLine: 19,
  body
})
export const range = (body: string): InlineComment => ({
  path: file,
  side: "new",
  start: 29,
  line: 30,
  range: { first: { kind: "added", old: 31, new: 29 }, last: { kind: "added", old: 31, new: 30 } },
  body
})
export const outside = (body: string): InlineComment => ({ path: file, side: "new", line: 3, body })
