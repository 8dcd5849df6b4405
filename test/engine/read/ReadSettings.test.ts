/** Settings in the repository, through a whole review: where they are read from, what they hide, and what a hostile file does. */
import { describe, expect, it } from "vitest"
import { settingNames } from "../../../src/domain/RepositorySettings.ts"
import { inEnglish } from "../../../src/text/en.ts"
import { makeRepository } from "../../vcs/Repository.ts"
import { runEngine } from "../Fixture.ts"

const file = ".aicr/settings.yaml"
const repository = makeRepository()
const start = repository.commit("start")

/** A commit of the base branch with this file, and a head that changes code and paths that are protected. */
const historyWith = (text: string | undefined, ownText?: string) => {
  repository.git("checkout", "-q", "-f", "-B", "work", start)
  if (text !== undefined) repository.write(file, text)
  const base = repository.commit("base")
  for (const path of ["src/a.ts", "docs/a.ts", "package.json", ".github/ci.yml"]) repository.write(path, "{}\n")
  if (ownText !== undefined) repository.write(file, ownText)
  return { repository, base, head: repository.commit("head") }
}

const instance = { source_repo: { trigger: "t", repo: "a/b" } }
const review = async (
  history: ReturnType<typeof historyWith>,
  permitted: ReadonlyArray<string> = settingNames,
  layer: "defaults" | "instances" = "instances"
) => {
  const settings = { repository_settings: permitted }
  const workspaces =
    layer === "instances"
      ? { instances: { w: { ...instance, ...settings } } }
      : { defaults: settings, instances: { w: instance } }
  const { analysis, briefs } = await runEngine({ ...history, document: { workspaces } })
  return { analysis, notices: analysis.notices.map(inEnglish), prompt: briefs[0]?.system ?? "" }
}
const hiding = "review:\n  exclude: [docs/, package.json, .github/, src/]\n"

it.each(["defaults", "instances"] as const)(
  "hides files that it excludes, except for protected ones, as %s permit",
  async (layer) => {
    const { analysis } = await review(historyWith(hiding), ["review.exclude"], layer)
    expect(analysis.coverage.reviewed.toSorted()).toEqual([".github/ci.yml", "package.json"])
    expect(analysis.coverage.skipped).toMatchObject([
      { path: "docs/a.ts", reason: "ignored", rule: `${file}, review.exclude` },
      { path: "src/a.ts", reason: "ignored" }
    ])
    expect(analysis.settings).toMatchObject({ found: true, applied: ["review.exclude"] })
  }
)

it("is read from the base branch, and not at all where nothing is permitted", async () => {
  const { analysis } = await review(historyWith(undefined, hiding))
  expect(analysis.settings).toMatchObject({ found: false, applied: [] })
  expect(analysis.coverage.reviewed).toContain("src/a.ts")
  const unpermitted = (await review(historyWith(hiding), [])).analysis
  expect(unpermitted).not.toHaveProperty("settings")
  expect(unpermitted.inputs?.rules.map(({ name }) => name)).not.toContain(file)
})

it("decides the language of the review", async () => {
  const { prompt } = await review(historyWith("review:\n  output_language: pt-BR\n"))
  expect(prompt).toContain("pt-BR")
})

describe("a hostile file changes nothing and is named", () => {
  const bomb = Array.from({ length: 9 }, (_, at) => `a${at}: &a${at} [${at === 0 ? "x" : `*a${at - 1},`.repeat(9)}]`)
  it.each<readonly [string, string, RegExp]>([
    ["huge", `review:\n  exclude: [src/]\n# ${"x".repeat(20_000)}`, /not a text file of at most 16384 bytes/],
    ["binary", `review:\n  exclude: [src/]\0`, /not used/],
    ["an alias without an anchor", "review:\n  exclude: [*a]\n", /line 2:/],
    ["a bomb", `${bomb.join("\n")}\nreview: *a8\n`, /not used/],
    ["deep", `review: ${"[".repeat(5000)}`, /not used/],
    ["a tag", "review: !!js/function 'x'\n", /not used/],
    ["two documents", "review: {}\n---\nreview: {}\n", /not used/],
    ["a wrong type", "review:\n  exclude: src/\n", /review\.exclude .*a list of at most 200 patterns/],
    ["no fields", "- review\n", /has to hold fields/]
  ])("%s", async (_, text, problem) => {
    const { analysis, notices } = await review(historyWith(text))
    expect(analysis.coverage.reviewed).toContain("src/a.ts")
    expect(analysis.settings?.applied).toEqual([])
    expect(notices.join("\n")).toMatch(problem)
  })
})
