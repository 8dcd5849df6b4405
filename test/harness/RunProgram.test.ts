import { tmpdir } from "node:os"
import { expect, it } from "vitest"
import { readProgram, runProgram } from "./RunProgram.ts"

const odd = 'it\'s "$HOME" `id`\n;& \\ é'

it("passes arguments and variables to a program as they are", () => {
  const environment = { PATH: process.env["PATH"], ODD: odd, "not-a-name": "1" }
  const script = 'process.stdout.write(JSON.stringify([process.argv[1], process.env.ODD, process.env["not-a-name"]]))'
  const printed = readProgram("node", ["-e", script, odd], { cwd: tmpdir(), environment })
  expect(JSON.parse(printed.toString())).toEqual([odd, odd, null])
})

it("returns how a program failed, and fails with its errors", () => {
  const options = { cwd: tmpdir(), environment: { PATH: process.env["PATH"] } }
  const failing = ["-c", "echo wrong >&2; exit 3"]
  expect(runProgram("sh", failing, options)).toMatchObject({ status: 3, stderr: "wrong\n" })
  expect(() => readProgram("sh", failing, options)).toThrow(/ended with 3: wrong/)
  expect(runProgram("true", [], { ...options, cwd: "/nonexistent" }).status).not.toBe(0)
})
