/** Tests that a page shows by name what people do not see, whichever element shows it. */
import { describe, expect, it } from "vitest"
import { showProps } from "../../../src/dashboard/parts/ShowProps.ts"

describe("characters that people do not see", () => {
  it.each([
    ["a text", { children: "a\u202etxt.exe" }, { children: "a[U+202E]txt.exe" }],
    ["texts of a list", { children: ["by ", ["x\u200b"], 1] }, { children: ["by ", ["x[U+200B]"], 1] }],
    ["an explanation", { title: "x\u2066", children: null }, { title: "x[U+2066]", children: null }],
    ["a label", { "aria-label": "x\u{e0041}" }, { "aria-label": "x[U+E0041]" }],
    ["a hint", { placeholder: "x\u200f" }, { placeholder: "x[U+200F]" }]
  ])("are named in %s", (_, props, shown) => {
    expect(showProps(props)).toEqual(shown)
    expect(showProps(showProps(props))).toEqual(shown)
  })

  it("stay in values and addresses, and other texts are not changed", () => {
    const props = { value: "a\u202eb", href: "/x\u202e", children: "漢字 שלום 👨\u200d👩\u200d👧" }
    expect(showProps(props)).toBe(props)
  })

  it("leave elements within as they are", () => {
    const inner = { type: "b", props: { children: "x" } }
    const { children } = Object(showProps({ children: ["\u202e", inner] }))
    expect(children[0]).toBe("[U+202E]")
    expect(children[1]).toBe(inner)
  })
})
