/** Markers survive any text around them, and no other account can write a valid one. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { OperationId } from "../../src/domain/Keys.ts"
import { cut } from "../../src/outputs/text/Cut.ts"
import { toSearchText, parseMarkers, renderMarker, splitMarkers } from "../../src/outputs/Marker.ts"
import { safeTexts } from "../../src/outputs/SafeText.ts"

const text = fc.string({ unit: "binary" })
const markers = fc.record(
  { op: text.map((op) => OperationId.make(op)), fp: text, scope: text },
  { requiredKeys: ["op"] }
)
/** Hostile text: pieces of markers, comments, fences and mentions in any order. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "<!--",
        "-->",
        "<!-- aicr:v1 ",
        '{"op":"x"}',
        "\n",
        "```",
        "~~~",
        "`",
        "@all",
        " ",
        "<b>",
        "/close",
        "|"
      ),
      fc.string({ unit: "grapheme", maxLength: 12 }),
      markers.map(renderMarker)
    )
  )
  .map((parts) => parts.join(""))

describe("markers", () => {
  it("are read back as written, whatever their fields contain", () => {
    fc.assert(
      fc.property(fc.array(markers), fc.string(), (list, between) => {
        const plain = between.replaceAll("<!--", "")
        const body = list.map(renderMarker).join(plain)
        expect(parseMarkers(body)).toEqual(list)
        expect(splitMarkers(body).markers).toEqual(list.map(renderMarker))
      })
    )
  })

  it("are on one line, and end at their own end", () => {
    fc.assert(
      fc.property(markers, (marker) => {
        const rendered = renderMarker(marker)
        expect(rendered.indexOf("-->")).toBe(rendered.length - 3)
        expect(rendered).not.toMatch(/[\r\n]/)
      })
    )
  })

  it("are found by any run of their fields", () => {
    const rendered = renderMarker({ op: OperationId.make("o-1"), fp: "f", scope: "s" })
    expect(rendered).toContain(toSearchText({ op: OperationId.make("o-1") }))
    expect(rendered).toContain(toSearchText({ fp: "f", scope: "s" }))
    expect(rendered).not.toContain(toSearchText({ op: OperationId.make("o") }))
  })

  it("pass over what only looks like one", () => {
    const body =
      '<!-- aicr:v1 {broken} --> <!-- aicr:v1 {"fp":"no op"} --> <!-- aicr:v2 {"op":"x"} --> <!-- aicr:v1 {"op":"y"} -->'
    expect(parseMarkers(body)).toEqual([{ op: "y" }])
  })

  it("cannot be forged through any text that we take from elsewhere", () => {
    fc.assert(
      fc.property(hostile, (evil) => {
        for (const { markdown, line, plain, codeSpan, codeBlock } of Object.values(safeTexts)) {
          const made = [markdown(evil), line(evil), plain(evil), codeSpan(evil), codeBlock("ts", evil)]
          expect(made.flatMap(parseMarkers)).toEqual([])
        }
      }),
      { numRuns: 500 }
    )
  })
})

describe("cutting", () => {
  it("keeps the limit and every marker", () => {
    fc.assert(
      fc.property(
        hostile,
        fc.array(markers, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 0, max: 400 }),
        (evil, list, spare) => {
          const body = `${safeTexts.gfm.markdown(evil.repeat(20))}\n\n${list.map(renderMarker).join("\n")}`
          const limit = list.map(renderMarker).join("\n").length + 40 + spare
          const short = cut(body, limit, "_cut_")
          expect(short.length).toBeLessThanOrEqual(limit)
          expect(parseMarkers(short)).toEqual(list)
        }
      )
    )
  })

  it("leaves a body within the limit alone", () => {
    expect(cut("short", 5, "_cut_")).toBe("short")
  })

  it("closes what it cut open", () => {
    const marker = renderMarker({ op: OperationId.make("x") })
    const code = `<details>\n\n\`\`\`ts\n${"let x = 1\n".repeat(100)}\`\`\`\n</details>\n\n${marker}`
    const short = cut(code, 300, "_cut_")
    expect(short.length).toBeLessThanOrEqual(300)
    expect(short.match(/^```/gm)).toHaveLength(2)
    expect(short).toContain("</details>")
    expect(short.endsWith(marker)).toBe(true)
  })
})
