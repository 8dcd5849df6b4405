/** Links from messages to the dashboard: complete, inert for any name of a repository, and none without a public address. */
import { describe, expect, it } from "vitest"
import { joinParts, makePageLinks } from "../../src/chat/PageLinks.ts"
import { safeTexts } from "../../src/outputs/SafeText.ts"

const server = { base_url: "https://aicr.example", path_prefix: "/aicr" }

describe.each(["feishu", "wecom"] as const)("links in messages of %s", (platform) => {
  const links = makePageLinks(server, safeTexts[platform], "Details")

  it("lead to the run, the delivery and the pull request", () => {
    expect(links.toRun("r1")).toBe("[Details](https://aicr.example/aicr/dashboard/runs/r1)")
    expect(links.toDelivery("e1")).toBe("[Details](https://aicr.example/aicr/dashboard/deliveries/e1)")
    expect(links.toChange("team/one", 7)).toBe(
      "[Details](https://aicr.example/aicr/dashboard/change?repo=team%2Fone&number=7)"
    )
  })

  it("end where they should, whatever a repository is called", () => {
    expect(links.toChange("a)[x](https://evil.example", 1)).toMatch(/^\[Details\]\([^()[\]\s]+\)$/)
  })

  it("are omitted without a subject or a public address", () => {
    const none = makePageLinks({}, safeTexts[platform], "Details")
    for (const text of [
      links.toRun(undefined),
      links.toDelivery(undefined),
      links.toChange("team/one", undefined),
      none.toRun("r1"),
      none.toDelivery("e1"),
      none.toChange("team/one", 7)
    ])
      expect(text).toBe("")
    expect(joinParts("\n", "a", "", "b")).toBe("a\nb")
  })
})
