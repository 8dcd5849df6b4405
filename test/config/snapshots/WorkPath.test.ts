/** The directory of a source stays under the root, whatever its name. */
import { Result } from "effect"
import * as fc from "fast-check"
import { resolve, sep } from "node:path"
import { describe, expect, it } from "vitest"
import { compileWorkPath } from "../../../src/config/snapshots/WorkPath.ts"
import type { WorkPathFacts } from "../../../src/config/snapshots/WorkPath.ts"
import { inEnglish } from "../../../src/text/en.ts"

const facts = (source: Partial<WorkPathFacts["source"]> = {}): WorkPathFacts => ({
  workspace: "w",
  trigger: "t",
  source: { vcs: "gitea", repo_ref: "Org/App", ...source }
})

const render = (template: string, source: Partial<WorkPathFacts["source"]> = {}): string => {
  const compiled = compileWorkPath(template)
  if (Result.isFailure(compiled)) return `template: ${inEnglish(compiled.failure)}`
  return Result.match(compiled.success(facts(source)), {
    onSuccess: (path) => path,
    onFailure: (why) => `path: ${inEnglish(why)}`
  })
}

describe("templates", () => {
  it.each([
    ["{{workspace.id}}", {}, "w"],
    ["{{workspace.id}}/{{trigger.name}}", {}, "w/t"],
    ["{{source.repo_ref}}", {}, "Org/App"],
    ["{{segment source.repo_ref}}", {}, "Org-App"],
    ["{{lower (segment source.repo_ref)}}", {}, "org-app"],
    ["{{source.namespace}}/{{ source.repository }}", {}, "Org/App"],
    ['{{default source.branch "main"}}', {}, "main"],
    ["{{default source.branch 'main'}}", { branch: "dev" }, "dev"],
    ["{{hash source.repo_ref}}", {}, "a2ffc9641434"],
    ['{{default (lower source.branch) (hash "x")}}', {}, "2d711642b726"],
    ["{{segment source.repo_ref}}", { repo_ref: "../../etc" }, "etc"],
    ["{{segment source.repo_ref}}", { repo_ref: "con" }, "_con"],
    ["{{segment source.repo_ref}}", { repo_ref: "组/名" }, "组-名"]
  ])("%s with %j is %s", (template, source, path) => {
    expect(render(template, source)).toBe(path)
  })

  it.each([
    ["{{other}}", 'unknown value "other"'],
    ["{{source.token}}", 'unknown value "source.token"'],
    ["{{constructor}}", 'unknown value "constructor"'],
    ["{{upper workspace.id}}", '"upper"'],
    ["{{#if a}}x{{/if}}", "cannot read"],
    ["{{{workspace.id}}}", "cannot read"],
    ["{{workspace.id", "`{{` without `}}`"],
    ["workspace.id}}", "`}}` without `{{`"],
    ["{{}}", "nothing between the braces"],
    ["{{segment}}", "segment takes 1 value, not 0"],
    ["{{default workspace.id}}", "default takes 2 values, not 1"],
    ["{{lower segment source.repo_ref}}", "put segment and its values in parentheses"],
    ["{{lower (segment source.repo_ref}}", "`(` without `)`"],
    ["{{workspace.id workspace.id}}", "unknown helper"],
    ["/{{workspace.id}}", "the path is absolute"],
    ["../{{workspace.id}}", ". or .. segment"],
    ["a//{{workspace.id}}", "empty segment"],
    ["C:/{{workspace.id}}", "the path is absolute"],
    ["a\\{{workspace.id}}", "the path holds one of"],
    ["nul/{{workspace.id}}", "the name of a device"],
    ["", "the path is empty"]
  ])("%s is refused: %s", (template, why) => {
    expect(render(template)).toMatch(/^template: /)
    expect(render(template)).toContain(why)
  })

  it.each([
    ["../../etc/passwd", ". or .. segment"],
    ["/etc/passwd", "absolute"],
    ["a/../b", ". or .. segment"],
    ["a//b", "empty segment"],
    ["a\u0000b", "control character"],
    ["a\\b", "holds one of"],
    ["C:\\x", "absolute"],
    ["aux.txt", "device"],
    ["a/LPT1", "device"],
    ["a./b", "ends with a dot"],
    ["a /b", "space"],
    ["x".repeat(256), "255 bytes"],
    ["x/".repeat(600), "1024 bytes"],
    ["\ud800", "well-formed"]
  ])("a repository named %j gets no path from its raw name", (repo_ref, why) => {
    expect(render("{{source.repo_ref}}", { repo_ref })).toContain(why)
    expect(render("{{source.repo_ref}}", { repo_ref })).toMatch(/^path: /)
  })
})

describe("never leaves its root", () => {
  const nasty = fc.oneof(
    fc.string({ unit: "binary", maxLength: 40 }),
    fc
      .array(
        fc.constantFrom(
          "..",
          ".",
          "/",
          "\\",
          "~",
          "C:",
          "con",
          "\u0000",
          " ",
          "a",
          "%2e%2e",
          "。。",
          "\u2215",
          "$HOME"
        ),
        { maxLength: 8 }
      )
      .map((parts) => parts.join(""))
  )
  const templates = fc.array(
    fc.oneof(
      nasty.filter((text) => !text.includes("{")),
      fc.constantFrom(
        "{{workspace.id}}",
        "{{source.repo_ref}}",
        "{{segment source.branch}}",
        "{{lower source.ref}}",
        '{{default source.branch "../x"}}',
        "/",
        "{{hash source.ref}}"
      )
    ),
    { maxLength: 5 }
  )
  it("for any template and any names", () => {
    let rendered = 0
    fc.assert(
      fc.property(templates, nasty, nasty, nasty, (parts, repo_ref, branch, ref) => {
        const compiled = compileWorkPath(parts.join(""))
        if (Result.isFailure(compiled)) return
        const result = compiled.success(facts({ repo_ref, branch, ref }))
        if (Result.isFailure(result)) return
        rendered++
        const path = resolve("/root/workspaces", result.success)
        expect(path.startsWith(`/root/workspaces${sep}`)).toBe(true)
        expect(path.slice("/root/workspaces/".length)).toBe(result.success)
      }),
      { numRuns: 20_000 }
    )
    expect(rendered).toBeGreaterThan(500)
  })
})
