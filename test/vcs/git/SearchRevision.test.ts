/** Searches in a revision: fixed texts only, of files only, bounded; nothing that a model sends is an option or a pattern of git. */
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { Effect } from "effect"
import { Vcs } from "../../../src/vcs/Checkout.ts"
import type { CheckoutError, RevisionSearch, TextSearch } from "../../../src/vcs/Checkout.ts"
import { layerGit } from "../../harness/GitLayer.ts"
import { localLimits } from "../../../src/vcs/process/ProcessLimits.ts"
import { makeRepository, temporaryFolder } from "../Repository.ts"

const repository = makeRepository()
repository.write("src/a.ts", "alpha one\nbeta\n")
repository.write("src/b.ts", "alphabet\n")
repository.write("src/ü (1).ts", "Alpha\n")
repository.write("src[1]/c.ts", "alpha\n")
repository.write("data.bin", Buffer.from("alpha\0\0alpha"))
repository.write("-e", "alpha\n")
symlinkSync("alpha", join(repository.path, "link"))
repository.write(".gitattributes", "*.ts -diff binary\n")
const base = repository.commit()
repository.write("src/a.ts", "alpha two\n")
const head = repository.commit()

const search = <A>(use: (search: RevisionSearch) => Effect.Effect<A, CheckoutError>) =>
  Effect.gen(function* () {
    const vcs = yield* Vcs
    const checkout = yield* vcs.checkout({
      url: repository.path,
      mirror: "test",
      authorization: undefined,
      head,
      base,
      headRef: undefined,
      baseRef: undefined,
      compare: "endpoints",
      rules: undefined
    })
    return yield* use(checkout.search)
  }).pipe(
    Effect.scoped,
    Effect.provide(layerGit({ root: temporaryFolder(), limits: () => localLimits, allowLocal: true })),
    Effect.runPromise
  )

const found = (text: string | ReadonlyArray<string>, more: Partial<TextSearch> = {}, limit = 10) =>
  search(({ filesWith }) =>
    filesWith({ texts: [text].flat(), ignoreCase: false, words: false, under: "", ...more }, limit)
  )

describe("files with a text", () => {
  it.each([
    ["alpha", {}, ["-e", "src/a.ts", "src/b.ts", "src[1]/c.ts"]],
    ["alpha", { words: true }, ["-e", "src/a.ts", "src[1]/c.ts"]],
    ["alpha", { ignoreCase: true, under: "src" }, ["src/a.ts", "src/b.ts", "src/ü (1).ts"]],
    ["alpha", { under: "src[1]" }, ["src[1]/c.ts"]],
    ["alpha", { under: "src/a.ts" }, ["src/a.ts"]],
    ["alpha", { under: "../src" }, []],
    ["alpha", { under: ":(glob)**" }, []],
    ["alpha", { under: "-e" }, ["-e"]],
    [["two", "alphabet"], {}, ["src/a.ts", "src/b.ts"]],
    [["two", "alphabet", "(1)"], {}, ["src/a.ts", "src/b.ts"]],
    [["alph", "two", "alphabets", "alphabet"], { words: true }, ["src/a.ts", "src/b.ts"]],
    [["TWO", "Alphabet"], { ignoreCase: true }, ["src/a.ts", "src/b.ts"]],
    ["beta", {}, []],
    ["al.ha", {}, []],
    ["(a+)+$", {}, []],
    ["--open-files-in-pager=x", {}, []],
    [["", "two\nalpha", "two\0"], {}, []]
  ])("%j with %j", async (text, more, expected) => {
    expect(await found(text, more)).toEqual({ paths: expected, more: false })
  })

  it("are not more than the limit", async () => {
    expect(await found("alpha", {}, 2)).toEqual({ paths: ["-e", "src/a.ts"], more: true })
    expect(await found("alpha", {}, 4)).toMatchObject({ more: false })
  })
})

describe("files of a folder", () => {
  const list = (folder: string, limit = 10) => search(({ filesUnder }) => filesUnder(folder, limit))

  it("are listed without links, up to the limit", async () => {
    expect(await list("")).toEqual({
      paths: ["-e", ".gitattributes", "data.bin", "src/a.ts", "src/b.ts", "src/ü (1).ts", "src[1]/c.ts"],
      more: false
    })
    expect(await list("src", 2)).toEqual({ paths: ["src/a.ts", "src/b.ts"], more: true })
    expect(await list("src[1]")).toMatchObject({ paths: ["src[1]/c.ts"] })
    for (const folder of ["nowhere", "../src", "/etc"]) expect(await list(folder)).toEqual({ paths: [], more: false })
  })
})
