import { expect, it } from "vitest"
import { searchTerms, searchText } from "../../src/domain/SearchText.ts"
import { change } from "../store/Fixtures.ts"

it("a run is found by repository, number, workspace, author, branch, title and commit in lower case", () => {
  const text = searchText(
    {
      ...change(7),
      author: { username: "Dana" },
      headRef: "Fix/Login",
      baseRef: "main",
      title: "Añade\u0000 Login"
    },
    "Team-A",
    "abc123"
  )
  expect(text).toBe("acme/app#7 abc123 team-a dana fix/login main añade login")
})

it("the text is limited, and ends with no half of a character", () => {
  const text = searchText({ ...change(7), title: "\u{1f600}".repeat(500) }, "w", "h")
  expect(text.length).toBeLessThanOrEqual(500)
  expect(text.isWellFormed()).toBe(true)
})

it.each([
  ["  Login   App ", ["login", "app"]],
  ["", []],
  ["a b c d e f g h i", ["a", "b", "c", "d", "e", "f", "g", "h"]]
])("the terms of %j", (query, terms) => {
  expect(searchTerms(query)).toEqual(terms)
})
