/** The paths in which two trees differ are those that git names, in its order, and trees are not read one by one. */
import { Effect } from "effect"
import { expect, it } from "vitest"
import { openBlobReader } from "../../../src/vcs/git/BlobReader.ts"
import { walkTrees } from "../../../src/vcs/git/TreeWalk.ts"
import { localLimits } from "../../../src/vcs/process/ProcessLimits.ts"
import { makeRepository } from "../Repository.ts"

const repository = makeRepository()
repository.write("same/a.ts", "a\n")
repository.write("folder/left.ts", "a\n")
repository.write("gone/deep/er/a.ts", "a\n")
repository.write("z.ts", "a\n")
const from = repository.commit()
for (let folder = 0; folder < 150; folder++) {
  repository.write(`many/f${folder}/a.ts`, `${folder}\n`)
  // The same tree many times.
  repository.write(`twin/f${folder}/a.ts`, "a\n")
}
// Its tree has over 64 KiB.
for (let file = 0; file < 2500; file++) repository.write(`wide/a-file-of-many-${file}.ts`, "a\n")
repository.remove("gone/deep/er/a.ts")
repository.git("rm", "-rq", "folder")
repository.write("folder", "now a file\n")
repository.write("z.ts", "b\n")
const to = repository.commit()
const treeOf = (commit: string) => repository.git("rev-parse", `${commit}^{tree}`)

const walk = (maxPaths: number) =>
  Effect.gen(function* () {
    const reader = yield* openBlobReader(`${repository.path}/.git`, localLimits)
    const seen = { reads: 0, waits: 0, open: 0 }
    const read = (id: string, maxBytes: number) =>
      Effect.suspend(() => {
        seen.reads++
        if (seen.open++ === 0) seen.waits++
        return Effect.ensuring(
          reader.read(id, maxBytes),
          Effect.sync(() => void seen.open--)
        )
      })
    const paths = yield* walkTrees(read, treeOf(from), treeOf(to), maxPaths)
    return { paths, seen }
  }).pipe(Effect.scoped, Effect.runPromise)

it("finds what git finds, and reads folders that come next together", async () => {
  const { paths, seen } = await walk(100_000)
  const named = repository.git("diff-tree", "-r", "--name-only", "--no-renames", from, to).split("\n")
  expect(paths.map(({ path }) => path)).toEqual(named)
  // Each folder of `many` is read, but the tree of all folders of `twin` only once.
  expect(seen.reads).toBeGreaterThan(150)
  expect(seen.reads).toBeLessThan(170)
  // The folders of `many` come together.
  expect(seen.waits).toBeLessThan(seen.reads - 130)
})

it("ends with the first path over the limit, before most trees are read", async () => {
  await expect(walk(20)).rejects.toMatchObject({ reason: "limit", message: expect.stringContaining("over 20 paths") })
})
