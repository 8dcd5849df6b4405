/** Shelves that no longer exist, at the fake server: submitted under their number or another one, deleted with or without their changelist. */
import { Effect } from "effect"
import { expect, it } from "vitest"
import { makeFakeDepot } from "../../harness/perforce/PerforceDepot.ts"
import { SubmittedChanges } from "../../../src/vcs/SubmittedChanges.ts"
import { run } from "../subversion/Revisions.ts"
import { depotServer } from "./Depots.ts"

const file = "//depot/main/a.c"

it("of several shelves those that no longer exist are found, with the changelist as which they were submitted", async () => {
  await using depot = makeFakeDepot()
  depot.submit("One", { files: { [file]: "1\n" } })
  const shelve = (text: string) => depot.shelve("Try", { files: { [file]: text } })
  const [open, deleted, emptied, renumbered] = [shelve("2\n"), shelve("3\n"), shelve("4\n"), shelve("5\n")]
  const elsewhere = depot.shelve("Try", { files: { "//depot/other/b.c": "1\n" } })
  const findEnded = (changelists: ReadonlyArray<string>, branches = ["//depot/main"]) =>
    run(
      Effect.gen(function* () {
        return yield* (yield* SubmittedChanges).endedShelves({ server: depotServer(depot), branches, changelists })
      })
    )
  const all = [open, deleted, emptied, renumbered]
  const before = depot.calls().length
  expect(await findEnded(all)).toEqual([])
  // One list shows that all of them exist.
  expect(
    depot
      .calls()
      .slice(before)
      .filter(({ argv }) => argv.includes("describe"))
  ).toEqual([])
  depot.abandon(deleted)
  depot.abandon(emptied, true)
  const submitted = depot.submit("Two", { files: { [file]: "5\n" }, pending: renumbered })
  const ends = [
    { changelist: deleted, submittedAs: undefined },
    { changelist: emptied, submittedAs: undefined },
    { changelist: renumbered, submittedAs: submitted },
    { changelist: submitted, submittedAs: submitted }
  ]
  expect(await findEnded([...all, submitted])).toEqual(ends)
  // A shelf that the list does not have is read itself, and a depot that no longer exists has none.
  expect(await findEnded([elsewhere])).toEqual([])
  expect(await findEnded([deleted], ["//gone/main"])).toEqual(ends.slice(0, 1))
  depot.set({ disturb: [{ command: "describe", how: "refused" }] })
  await expect(findEnded([deleted])).rejects.toThrow(/p4 describe/)
})
