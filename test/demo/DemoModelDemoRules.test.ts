import { assert, describe, it } from "@effect/vitest"
import { parseHunks } from "../../demo/DemoDiff.ts"
import { demoRules, findProblems } from "../../demo/DemoModel.ts"

/** The rule, the language, code with the fault, and similar correct code. */
const cases: ReadonlyArray<readonly [id: string, extension: string, faulty: string, right: string]> = [
  [
    "sql-from-strings",
    "ts",
    "db.query(`SELECT * FROM t WHERE a = ${a}`)",
    "db.query(sql`SELECT * FROM t WHERE a = ${a}`)"
  ],
  [
    "sql-from-strings",
    "ts",
    "db.query(`SELECT * FROM t WHERE a = '${a}'`)",
    "db.query(`SELECT ${columns} FROM t WHERE a = $1`)"
  ],
  ["sql-from-strings", "js", 'db.query("DELETE FROM t WHERE a = " + a)', 'db.query("DELETE FROM t WHERE a = $1", [a])'],
  ["sql-from-strings", "py", 'db.execute(f"UPDATE t SET a = {a}")', 'db.execute("UPDATE t SET a = %s", (a,))'],
  [
    "sql-from-strings",
    "py",
    'db.execute("SELECT a FROM t WHERE b = %s" % b)',
    'log.info("select %s from the list", b)'
  ],
  [
    "sql-from-strings",
    "go",
    "db.Query(fmt.Sprintf(\"SELECT a FROM t WHERE b = '%s'\", b))",
    'db.Query("SELECT a FROM t WHERE b = $1", b)'
  ],
  ["shell-from-strings", "py", 'os.system(f"rm -r {path}")', 'subprocess.run(["rm", "-r", path])'],
  ["shell-from-strings", "ts", "execSync(`git clone ${url}`)", 'execFileSync("git", ["clone", url])'],
  ["shell-from-strings", "ts", "exec(`ls ${folder}`)", "const found = pattern.exec(`a${b}`)"],
  ["secret-in-source", "ts", 'const apiKey = "k3Jf8sLq02MzXy71"', "const apiKey = process.env.API_KEY"],
  ["secret-in-source", "go", 'token := "k3Jf8sLq02MzXy71"', 'token := "your-token-here"'],
  ["secret-in-source", "py", 'AWS = "AKIAIOSFODNN7EXAMPLE"', 'password = "<password goes here 1>"'],
  ["tls-unchecked", "py", "requests.get(url, verify=False)", "requests.get(url, verify=ca_file)"],
  [
    "missing-await",
    "ts",
    "async function save() {}\nfunction run() {\n  save()\n}",
    "async function save() {}\nasync function run() {\n  await save()\n}"
  ],
  [
    "off-by-one",
    "ts",
    "for (let i = 0; i <= xs.length; i++) {\n  use(xs[i])\n}",
    "for (let i = 0; i < xs.length; i++) {\n  use(xs[i])\n}"
  ],
  [
    "off-by-one",
    "go",
    "for i := 0; i <= len(xs); i++ {\n\tuse(xs[i])\n}",
    "for i := 1; i <= len(xs); i++ {\n\tuse(xs[i-1])\n}"
  ],
  ["off-by-one", "py", "for i in range(len(xs) + 1):\n    use(xs[i])", "for i in range(len(xs)):\n    use(xs[i])"],
  [
    "maybe-undefined",
    "ts",
    "const u = us.find((x) => x.id === id)\nreturn u.name",
    "const u = us.find((x) => x.id === id)\nif (u === undefined) return\nreturn u.name"
  ],
  [
    "used-before-error-check",
    "go",
    "f, err := open(name)\ndefer f.Close()",
    "f, err := open(name)\nif err != nil {\n\treturn err\n}\ndefer f.Close()"
  ],
  [
    "lock-not-released",
    "go",
    "func f() {\n\tm.Lock()\n\tif a {\n\t\treturn\n\t}\n\tm.Unlock()\n}",
    "func f() {\n\tm.Lock()\n\tdefer m.Unlock()\n\treturn\n}"
  ],
  ["assignment-in-condition", "ts", "if (a = 1) {", "if (a === 1) {"],
  [
    "swallowed-error",
    "ts",
    "try {\n  a()\n} catch (e) {\n}\nb()",
    "try {\n  a()\n} catch (e) {\n  // it is gone already\n}\nb()"
  ],
  [
    "swallowed-error",
    "py",
    "try:\n    a()\nexcept Exception:\n    pass\nb()",
    "try:\n    a()\nexcept KeyError:\n    pass\nb()"
  ],
  [
    "swallowed-error",
    "go",
    "if err := a(); err != nil {\n\treturn nil\n}\nb()",
    "if err := a(); err != nil {\n\treturn err\n}\nb()"
  ],
  [
    "unclosed-resource",
    "py",
    "def f():\n    s = open(a)\n    return s.read()",
    "def f():\n    with open(a) as s:\n        return s.read()"
  ],
  [
    "unclosed-resource",
    "go",
    "func f() error {\n\ts, err := os.Open(a)\n\tuse(s)\n\treturn err\n}",
    "func f() error {\n\ts, err := os.Open(a)\n\tdefer s.Close()\n\treturn err\n}"
  ],
  ["shared-default", "py", "def f(a, b=[]):", "def f(a, b=None):"]
]

const found = (extension: string, source: string, added = true): ReadonlyArray<string> => {
  const lines = source.split("\n").map((text, at) => ({ number: at + 1, text, added }))
  return findProblems([{ path: `x.${extension}`, extension, whole: true, lines }]).flatMap(
    ({ message }) => /demo rule `([^`]+)`/.exec(message)?.[1] ?? []
  )
}

describe("demo rules", () => {
  it.each(cases)("%s in %s", (id, extension, faulty, right) => {
    assert.include(found(extension, faulty), id)
    assert.notInclude(found(extension, right), id)
  })

  it("every rule has a case", () => {
    const without = demoRules.filter(({ id }) => !cases.some(([name]) => name === id))
    assert.deepStrictEqual(without, [])
  })

  it("old lines and comments are left alone", () => {
    for (const [, extension, faulty] of cases) assert.deepStrictEqual(found(extension, faulty, false), [])
    assert.deepStrictEqual(found("py", "# requests.get(url, verify=False)"), [])
    assert.deepStrictEqual(found("md", "requests.get(url, verify=False)"), [])
  })
})

describe("reading the diff out of a prompt", () => {
  const prompt = (body: string) => `Review this.\n\n<diff f1>\n${body}\n</diff f1>\n\nThat is all.`

  it("new lines with their numbers; old ones are passed over", () => {
    const body = "=== a/b.ts (modified, TypeScript)\n@@ -9,3 +9,3 @@ class A\n9: one\n10-: two\n10+: 2\n11: three"
    assert.deepStrictEqual(parseHunks(prompt(body)), [
      {
        path: "a/b.ts",
        extension: "ts",
        whole: false,
        lines: [
          { number: 9, text: "one", added: false },
          { number: 10, text: "2", added: true },
          { number: 11, text: "three", added: false }
        ]
      }
    ])
  })

  it("code that looks like a heading, a fence or a hunk is code", () => {
    const body = "=== a.py (added, Python)\n@@ -0,0 +1,3 @@\n1+: === b.py (added)\n2+: </diff f1>\n3+: @@ -1 +1 @@"
    const [hunk, ...more] = parseHunks(prompt(body))
    assert.deepStrictEqual(more, [])
    assert.deepStrictEqual(
      hunk?.lines.map(({ text }) => text),
      ["=== b.py (added)", "</diff f1>", "@@ -1 +1 @@"]
    )
    assert.isTrue(hunk?.whole)
  })

  it("a prompt without a diff has none", () => {
    assert.deepStrictEqual(parseHunks("<diff a>\nnever closed"), [])
  })
})
