/** The size of a pass follows from the data of the model: its settings, then overrides, then the catalog. */
import { describe, expect, it } from "vitest"
import { makeRepository } from "../../vcs/Repository.ts"
import { runEngine } from "../Fixture.ts"

const change = () => {
  const repository = makeRepository()
  repository.write("readme.md", "a\n")
  const base = repository.commit("base")
  for (let file = 0; file < 12; file++) {
    const lines = Array.from({ length: 300 }, (_, at) => `export const value${at} = read(${file}, "${at}") ?? ${at}`)
    repository.write(`src/part${file}.ts`, `${lines.join("\n")}\n`)
  }
  return { repository, base, head: repository.commit("head") }
}

/** All of it is below the 120 000 tokens that a window of 200 000 leaves, above the 76 800 that one of 128 000 does. */
const given = change()

/** Returns how much of the change one pass reads. */
const readInOnePass = async (
  provider: Record<string, unknown>,
  catalog: Record<string, unknown>,
  { compression = {}, instance = {} }: { readonly compression?: object; readonly instance?: object } = {}
): Promise<"all" | "most" | "little"> => {
  const { analysis } = await runEngine({
    ...given,
    review: { max_passes: 1 },
    document: {
      compression,
      llm: {
        providers: [
          { id: "p", kind: "anthropic", api_key: "k", ...provider },
          { id: "small", kind: "anthropic", api_key: "k", context_window: 30_000 }
        ],
        model_chain: {
          default: [{ provider: "p", model: "claude-sonnet-4-5" }],
          small: [{ provider: "small", model: "m" }]
        },
        model_catalog: catalog
      },
      workspaces: { instances: { w: { source_repo: { trigger: "t", repo: "a/b" }, ...instance } } }
    }
  })
  const { lines, changed = lines } = analysis.coverage
  return lines === changed ? "all" : lines > changed / 4 ? "most" : "little"
}

describe("the model's window", () => {
  const override = { limit: { context: 30_000 } }
  it.each([
    ["is assumed to be ordinary where nobody says", {}, {}, "most"],
    ["is that of the provider's settings", { context_window: 200_000 }, {}, "all"],
    ["is that of an override", {}, { overrides: { "anthropic/claude-sonnet-4-5": override } }, "little"],
    [
      "is that of the settings before that of an override",
      { context_window: 200_000 },
      { overrides: { "p/claude-sonnet-4-5": override } },
      "all"
    ],
    ["is that of the bundled catalog", {}, { enabled: true, offline: true }, "all"],
    [
      "is that of the model that is named for it",
      { catalog_id: "openai/gpt-4o" },
      { enabled: true, offline: true },
      "most"
    ],
    [
      "is not that of the catalog where it is not to be applied",
      {},
      { enabled: true, offline: true, apply_to_model_spec: false },
      "most"
    ]
  ])("%s", async (_, provider, catalog, expected) => {
    expect(await readInOnePass(provider, catalog)).toBe(expected)
  })

  it("is that of the group that the workspace names", async () => {
    const large = { context_window: 200_000 }
    expect(await readInOnePass(large, {}, { instance: { model_chain: "small" } })).toBe("little")
  })

  it("is used up to max_input_ratio", async () => {
    const large = { context_window: 200_000 }
    expect(await readInOnePass(large, {}, { compression: { max_input_ratio: 0.9 } })).toBe("all")
    expect(await readInOnePass(large, {}, { compression: { max_input_ratio: 0.1 } })).toBe("little")
  })
})
