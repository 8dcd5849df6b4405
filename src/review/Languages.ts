/** Programming languages by file name, for the prompt and for the languages of a change. Pure. */

const extensions: Readonly<Record<string, string>> = {
  ts: "TypeScript",
  tsx: "TypeScript",
  mts: "TypeScript",
  cts: "TypeScript",
  js: "JavaScript",
  jsx: "JavaScript",
  mjs: "JavaScript",
  cjs: "JavaScript",
  py: "Python",
  pyi: "Python",
  go: "Go",
  rs: "Rust",
  java: "Java",
  kt: "Kotlin",
  kts: "Kotlin",
  scala: "Scala",
  groovy: "Groovy",
  c: "C",
  h: "C",
  cc: "C++",
  cpp: "C++",
  cxx: "C++",
  hh: "C++",
  hpp: "C++",
  hxx: "C++",
  inl: "C++",
  cs: "C#",
  fs: "F#",
  vb: "Visual Basic",
  swift: "Swift",
  m: "Objective-C",
  mm: "Objective-C++",
  dart: "Dart",
  rb: "Ruby",
  php: "PHP",
  pl: "Perl",
  pm: "Perl",
  lua: "Lua",
  r: "R",
  jl: "Julia",
  ex: "Elixir",
  exs: "Elixir",
  erl: "Erlang",
  hs: "Haskell",
  ml: "OCaml",
  clj: "Clojure",
  nim: "Nim",
  zig: "Zig",
  v: "Verilog",
  sv: "SystemVerilog",
  sh: "Shell",
  bash: "Shell",
  zsh: "Shell",
  ps1: "PowerShell",
  bat: "Batch",
  sql: "SQL",
  proto: "Protocol Buffers",
  html: "HTML",
  css: "CSS",
  scss: "SCSS",
  less: "Less",
  vue: "Vue",
  svelte: "Svelte",
  graphql: "GraphQL",
  tf: "Terraform",
  hcl: "HCL",
  yaml: "YAML",
  yml: "YAML",
  json: "JSON",
  toml: "TOML",
  xml: "XML",
  md: "Markdown",
  hlsl: "HLSL",
  glsl: "GLSL",
  shader: "ShaderLab",
  sol: "Solidity",
  cmake: "CMake",
  gradle: "Gradle"
}

const fileNames: Readonly<Record<string, string>> = {
  dockerfile: "Dockerfile",
  makefile: "Make",
  "cmakelists.txt": "CMake",
  jenkinsfile: "Groovy",
  rakefile: "Ruby",
  gemfile: "Ruby"
}

export const detectLanguage = (path: string): string | undefined => {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase()
  const dot = name.lastIndexOf(".")
  // `Object.hasOwn`: a file may be called constructor.
  if (Object.hasOwn(fileNames, name)) return fileNames[name]
  const extension = dot < 0 ? "" : name.slice(dot + 1)
  return Object.hasOwn(extensions, extension) ? extensions[extension] : undefined
}

/** Languages of a change, the one with most changed lines first. */
export const listLanguages = (
  files: ReadonlyArray<{ readonly path: string; readonly additions: number; readonly deletions: number }>
): ReadonlyArray<string> => {
  const lines = new Map<string, number>()
  for (const { path, additions, deletions } of files) {
    const language = detectLanguage(path)
    if (language !== undefined) lines.set(language, (lines.get(language) ?? 0) + additions + deletions)
  }
  return [...lines].toSorted((a, b) => b[1] - a[1]).map(([language]) => language)
}
