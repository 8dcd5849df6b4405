import { expect, it } from "vitest"
import { developersPage } from "../../src/ingress/DevelopersPage.ts"
import { parseRoute } from "../../src/ingress/Routes.ts"

it.each([
  ["en", "/aicr", "When aicr reviews you", 'href="/aicr/developers/zh"'],
  ["zh", "/aicr", "当 aicr 评审您的改动时", 'href="/aicr/developers"'],
  ["en", "", "When aicr reviews you", 'href="/developers/zh"']
] as const)(
  "the page in %s below %j has its text, a link to the other language, and no script",
  (language, prefix, title, link) => {
    const { body, headers, status } = developersPage(language, prefix)
    expect(status).toBe(200)
    expect(body).toContain(`<h1>${title}</h1>`)
    expect(body).toContain(link)
    expect(body).toContain("<code>/aicr review</code>")
    expect(body).not.toMatch(/<script|https?:/)
    expect(headers?.["content-security-policy"]).toContain("default-src 'none'")
  }
)

it("the page has a path in each language", () => {
  expect(parseRoute("/aicr", "/aicr/developers?x")).toEqual({ _tag: "Developers", language: "en" })
  expect(parseRoute("/aicr", "/aicr/developers/zh")).toEqual({ _tag: "Developers", language: "zh" })
  expect(parseRoute("/aicr", "/developers")).toBeUndefined()
})
