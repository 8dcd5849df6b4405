/** Owners files, authors and links: small decisions as tables. */
import { describe, expect, it } from "vitest"
import { exactAccount } from "../../../src/outputs/channels/Author.ts"
import { diffUrl, fillUrl, headUrl, lineUrl } from "../../../src/outputs/text/Links.ts"
import { findOwners } from "../../../src/outputs/issues/Owners.ts"
import { change, finding } from "../Fixtures.ts"

describe("owners", () => {
  const text = [
    "# everyone",
    "* @root",
    "*.ts @typist # those who type",
    "/docs/ @writer @editor",
    "src/api @api @team/ignored someone@mail.test",
    "empty.txt"
  ].join("\n")
  it.each([
    ["README", ["root"]],
    ["lib/deep/a.ts", ["typist"]],
    ["docs/a.ts", ["writer", "editor"]],
    ["other/docs/a.md", ["root"]],
    ["src/api/x.go", ["api"]],
    ["empty.txt", []]
  ])("%s", (path, owners) => expect(findOwners(text, [path])).toEqual(owners))

  it("takes lines that only name people, and each person once", () => {
    expect(findOwners("@a @b", ["x", "y"])).toEqual(["a", "b"])
    expect(findOwners("", ["x"])).toEqual([])
  })
})

describe("authors", () => {
  const maps = { email_mappings: { "Dana@Mail.test": "@dana-host" }, email_blacklist: ["bot@mail.test"] }
  const resolution = { directory_cache_ttl_seconds: 0, ...maps }
  it.each([
    ["a mapping wins", { email: "dana@mail.test", account: "other" }, { _tag: "Known", account: "dana-host" }],
    ["the blacklist asks nobody", { email: "Bot@mail.test", account: "bot" }, { _tag: "Known", account: undefined }],
    ["the host's account", { email: "x@mail.test", account: "x" }, { _tag: "Known", account: "x" }],
    ["an author without account", { email: "x@mail.test", account: undefined }, { _tag: "Open" }],
    ["an unknown commit", undefined, { _tag: "Open" }]
  ])("%s", (_, author, account) => expect(exactAccount(resolution, author)).toEqual(account))
})

describe("links", () => {
  it("encodes values and leaves unknown names", () => {
    expect(fillUrl("https://h/{{repo}}/{{ sha }}?{{constructor}}", { repo: "a/b c", sha: "1" })).toBe(
      "https://h/a%2Fb%20c/1?{{constructor}}"
    )
  })

  const own = { ...change, repo: { fullName: "team/shop", webUrl: "https://h/team/shop" } }
  const none = { commit: undefined, revision: undefined, change: undefined }
  it.each([
    ["the host's own", own, none, "https://h/team/shop/commit/abc"],
    ["GitLab's own", { ...own, provider: "gitlab" as const }, none, "https://h/team/shop/-/commit/abc"],
    ["a template", own, { ...none, commit: "https://x/{{owner}}/{{name}}/{{sha}}" }, "https://x/team/shop/abc"],
    [
      "a changelist",
      { ...own, provider: "perforce" as const },
      { ...none, change: "https://p4/{{change}}" },
      "https://p4/abc"
    ],
    [
      "a revision",
      { ...own, provider: "subversion" as const },
      { ...none, revision: "https://s/{{rev}}" },
      "https://s/abc"
    ],
    ["no link but the web's", own, { ...none, commit: "javascript:{{sha}}" }, undefined]
  ])("of a head: %s", (_, of, templates, url) => expect(headUrl(of, "abc", templates)).toBe(url))

  const at = finding(1, {}, { path: "src/a b.ts", side: "new", line: 4, start: 2 })
  it.each([
    ["gitea", "https://h/team/shop/src/commit/abc/src/a%20b.ts#L2-L4"],
    ["github", "https://h/team/shop/blob/abc/src/a%20b.ts#L2-L4"],
    ["gitlab", "https://h/team/shop/-/blob/abc/src/a%20b.ts#L2-4"],
    ["perforce", undefined]
  ] as const)("of lines on %s", (provider, url) => expect(lineUrl({ ...own, provider }, "abc", at)).toBe(url))
  const sha1 = "cff3046324d0a2834f8720ffbd27d841d00274ad"
  const sha256 = "e385bb3f39b10f9ee872d381ff0c6476e5a57c4a6f6eb74b8129b7a429fc02bc"
  const pull = { ...own, target: { kind: "pull_request", number: 7 }, url: "https://h/team/shop/7" } as const
  it.each([
    ["gitea", {}, `files#diff-${sha1}R4`],
    ["forgejo", { side: "old" }, `files#diff-${sha1}L4`],
    ["github", {}, `files#diff-${sha256}R4`],
    ["github", { side: "old" }, `files#diff-${sha256}L4`],
    ["gitlab", { oldLine: 3, newLine: 4 }, `diffs#${sha1}_3_4`],
    ["gitlab", {}, `diffs#${sha1}`],
    ["perforce", {}, undefined]
  ] as const)("of the diff on %s: %j", (provider, over, anchor) => {
    const one = finding(1, {}, { path: "src/a b.ts", side: "new", line: 4, ...over })
    expect(diffUrl({ ...pull, provider }, one)).toBe(anchor && `https://h/team/shop/7/${anchor}`)
    expect(diffUrl({ ...pull, provider, target: { kind: "push", branch: "main" } }, one)).toBeUndefined()
  })
  it("has none for lines that are gone", () => {
    expect(lineUrl(own, "abc", finding(1, {}, { path: "a", side: "old", line: 1 }))).toBeUndefined()
  })
})
