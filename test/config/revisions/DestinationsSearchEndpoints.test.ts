import { describe, expect, it } from "vitest"
import { parseDocument } from "../../../src/config/revisions/DatabaseDocument.ts"
import { ungrantedVariables } from "../../../src/config/revisions/Grants.ts"
import { overlay } from "../../../src/config/revisions/Overlay.ts"
import { searchEndpoints } from "../../../src/config/revisions/Destinations.ts"
import { inEnglish } from "../../../src/text/en.ts"

const search = (endpoint?: string, credential?: string) => ({
  agent: {
    web_search: {
      ...(endpoint === undefined ? {} : { searxng: { endpoint } }),
      ...(credential === undefined ? {} : { credentials: { searxng: credential, exa: credential } })
    }
  }
})
const documentOf = (global: object, defaults: object, instances: object) => ({
  ...global,
  workspaces: { defaults, instances }
})
const ofGlobal = ["agent", "web_search", "credentials"]
const ofDefaults = ["workspaces", "defaults", ...ofGlobal]
const ofApp = ["workspaces", "instances", "app", ...ofGlobal]

describe("the endpoint of a search credential is", () => {
  it.each([
    ["that of the workspace", documentOf(search("g"), search("d"), { app: search("a") }), ofApp, "a"],
    ["that of the defaults", documentOf(search("g"), search("d"), { app: {} }), ofApp, "d"],
    ["the global one", documentOf(search("g"), {}, { app: {} }), ofApp, "g"],
    ["that of the defaults, for a global credential", documentOf(search("g"), search("d"), {}), ofGlobal, "d"],
    [
      "each one of the workspaces that inherit it",
      documentOf(search("g"), {}, { app: search("a"), b: search("b", "KEY"), c: {}, d: search("a") }),
      ofDefaults,
      ["a", "g"]
    ],
    ["none where the defaults replace it", documentOf(search("g"), search("d", "KEY"), {}), ofGlobal, undefined]
  ] as const)("%s", (_title, document, path, endpoint) => {
    expect(searchEndpoints(document, [...path, "searxng"])).toEqual(endpoint === undefined ? {} : { endpoint })
    expect(searchEndpoints(document, [...path, "exa"])).toEqual({})
  })
})

describe("a variable of the file for web search", () => {
  const file = search("https://search.example", "SEARCH_KEY")
  const problems = (endpoint: string, more: object = {}) => {
    const source = { globals: { workspaces: { defaults: search(endpoint) } } }
    const document = parseDocument(source, ({ reason }) => {
      throw new Error(inEnglish(reason))
    })
    const given = { ...file, ...more }
    return ungrantedVariables(overlay(given, document).tree, given).map(({ code, path }) => [code, path.join(".")])
  }

  it("is not sent to an endpoint of the database, in any spelling of the host, unless the file grants it", () => {
    expect(problems("https://search.example")).toEqual([])
    for (const endpoint of [
      "https://evil.example",
      "https://search.example.",
      "https://SEARCH.example",
      "https://search.example:443",
      "https://search.example@evil.example",
      "http://search.example",
      "https://[::1]"
    ]) {
      expect(problems(endpoint)).toEqual([["secret_ref_missing", "agent.web_search.credentials.searxng"]])
      const target = ["agent", "web_search", "credentials", "searxng"]
      const grant = { env: "SEARCH_KEY", target, destinations: { own: { endpoints: { endpoint } } } }
      expect(problems(endpoint, { config_sources: { secret_refs: [grant] } })).toEqual([])
    }
  })
})
