/** Grammars by file extension, with the nodes that count as definitions. Pure data. */

export interface Grammar {
  /** File of the grammar, without `tree-sitter-` and `.wasm`. */
  readonly name: string
  readonly definitions: ReadonlySet<string>
  /** Nodes that are definitions only where their `value` is one of these, such as a constant that holds a function. */
  readonly holders: ReadonlySet<string>
  readonly values: ReadonlySet<string>
}

const grammar = (name: string, definitions: string, holders = "", values = ""): Grammar => ({
  name,
  definitions: new Set(definitions.split(" ")),
  holders: new Set(holders.split(" ")),
  values: new Set(values.split(" "))
})

const script =
  "function_declaration generator_function_declaration method_definition class_declaration abstract_class_declaration interface_declaration enum_declaration internal_module"
const holders = "variable_declarator public_field_definition field_definition pair assignment_expression"
const functions = "arrow_function function_expression generator_function class"
const typescript = grammar("typescript", script, holders, functions)
const tsx = grammar("tsx", script, holders, functions)
const javascript = grammar("javascript", script, holders, functions)
const cpp = grammar(
  "cpp",
  "function_definition class_specifier struct_specifier union_specifier enum_specifier namespace_definition"
)

const grammars: Readonly<Record<string, Grammar>> = {
  ts: typescript,
  mts: typescript,
  cts: typescript,
  tsx,
  js: javascript,
  mjs: javascript,
  cjs: javascript,
  jsx: javascript,
  py: grammar("python", "function_definition class_definition"),
  go: grammar("go", "function_declaration method_declaration type_spec"),
  java: grammar(
    "java",
    "class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration method_declaration constructor_declaration compact_constructor_declaration"
  ),
  rs: grammar("rust", "function_item impl_item struct_item enum_item union_item trait_item mod_item macro_definition"),
  c: cpp,
  h: cpp,
  cc: cpp,
  cpp,
  cxx: cpp,
  hh: cpp,
  hpp: cpp,
  hxx: cpp,
  cs: grammar(
    "c-sharp",
    "class_declaration struct_declaration interface_declaration record_declaration enum_declaration method_declaration constructor_declaration destructor_declaration operator_declaration property_declaration local_function_statement namespace_declaration"
  )
}

export const findGrammar = (path: string): Grammar | undefined => {
  const extension = path.slice(path.lastIndexOf(".") + 1).toLowerCase()
  return Object.hasOwn(grammars, extension) ? grammars[extension] : undefined
}
