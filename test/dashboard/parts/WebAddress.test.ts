/** Tests which addresses of hosts become links. */
import { expect, it } from "vitest"
import { isWebAddress } from "../../../src/dashboard/parts/WebAddress.ts"

it.each([
  ["https://git.example/a/b/pulls/1", true],
  ["HTTP://git.example", true],
  ["javascript:alert(1)", false],
  [" \tjava\nscript:alert(1)", false],
  ["data:text/html,<script>alert(1)</script>", false],
  ["vbscript:x", false],
  ["file:///etc/passwd", false],
  ["blob:https://git.example/1", false],
  ["//git.example/a", false],
  ["/dashboard", false],
  ["", false]
])("%j: %s", (url, isLink) => expect(isWebAddress(url)).toBe(isLink))
