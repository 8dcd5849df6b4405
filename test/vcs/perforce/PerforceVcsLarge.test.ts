/** Changelists of very large files and of very many files are read within limits, and large files are never transferred. */
import { Effect } from "effect"
import { afterEach, beforeEach, expect, it } from "vitest"
import { makeFakeDepot } from "../../harness/perforce/PerforceDepot.ts"
import type { FakeDepot } from "../../harness/perforce/PerforceDepot.ts"
import { checkingOut, expectFailure } from "../subversion/Revisions.ts"
import { depotServer } from "./Depots.ts"

const gibibyte = 1_073_741_824
const large = "//Ace/main/large.txt"
let depot: FakeDepot
beforeEach(() => {
  depot = makeFakeDepot()
})
afterEach(() => depot[Symbol.asyncDispose]())

const request = (head: string, base: string) => ({ server: depotServer(depot), branch: "//Ace/main", head, base })

it("a file of 1 GiB is sized by the list of the server, and never printed", async () => {
  depot.submit("One", { files: { [large]: "one\n", "//Ace/main/a.c": "a\n" } })
  const head = depot.submit("Two", { files: { [large]: "two\n" } })
  const files = depot.state().files
  depot.set({ files: { ...files, [large]: (files[large] ?? []).map((one) => ({ ...one, bytes: gibibyte })) } })
  await checkingOut(request(head, "1"), (checkout) =>
    Effect.gen(function* () {
      const changes = yield* checkout.changes(10)
      expect(changes.map(({ path }) => path)).toEqual(["large.txt"])
      expect(yield* checkout.sizes(changes)).toEqual([gibibyte])
      expect(yield* checkout.file("large.txt", "head", 1_000_000)).toBeUndefined()
      // A search of the branch would have to fetch it.
      const search = { texts: ["two"], ignoreCase: false, words: false, under: "" }
      expect(yield* checkout.search.filesWith(search, 5)).toEqual({ paths: [], more: false })
    })
  )
  expect(depot.calls().filter(({ argv }) => argv.includes("print"))).toEqual([])
})

it("a changelist of 200,000 files ends at the limit of paths", async () => {
  const entry = { rev: 1, change: 1, action: "add", type: "text", content: "" }
  depot.submit("One", { files: { "//Ace/main/a.c": "a\n" } })
  const files = Object.fromEntries(
    Array.from({ length: 200_000 }, (_, index) => [`//Ace/main/big/${index}.c`, [{ ...entry, change: 2 }]])
  )
  depot.submit("Two", { files: {} })
  depot.set({ files: { ...depot.state().files, ...files } })
  const failure = await expectFailure(checkingOut(request("2", "1"), ({ changes }) => changes(3000)))
  expect(failure).toMatch(/^limit: .*review\.max_changed_paths/)
  expect(depot.calls().filter(({ argv }) => argv.includes("print"))).toEqual([])
}, 60_000)
