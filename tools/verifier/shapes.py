"""The shapes of recorded specs: made from schemas/kinds by `python -m tools.shapes`, and not to be edited.

A line names a mapping and gives the shape of each of its keys; a key with `!` must be there. Mappings before the first
`# kind` are those of all kinds, the others of one; `Document` is the spec itself. A shape: `s` text, `b` boolean, `n`
number, `e` an expression, `0` null, `*` anything, `i1:9` an integer of a range (an end may be left out), `=a` a word,
`[x]` a list, `{x}` a mapping of names, `@Name` one of the mappings; several with `|` between them are alternatives.
"""

SHAPE_TEXT = """\
AppendEffect append!:s value!:e when:e|0
Draw from!:e stream!:s
EachEffect as!:s each!:s update!:{e} when:e|0 where:e
FixedConstant qfixed!:n|s
Function args!:[s] is!:e
Memory fields!:{@MemoryField} scope:=episode|=run
MemoryField start!:e type!:s|@Schema
Metadata annotations:{*}
PutEffect key!:e put!:s value!:e when:e|0
RemoveEffect as!:s remove!:s when:e|0 where!:e
Schema additionalProperties:s|@Schema|0 enum:[s]|[i:]|0 items:s|@Schema|0 maxItems:i0:|0 maximum:i:|0 minimum:i:|0
  properties:{s|@Schema}|0 required:[s]|0 type:=integer|=boolean|=string|=number|=array|=object|0
SetEffect set!:s to!:e when:e|0
Starts symbols:[s]|0
Write effect!:@SetEffect|@AppendEffect|@RemoveEffect|@EachEffect|@PutEffect id!:s when:e
# agent
Candidate for_each:{e} op!:s when:e
Document candidates:[@Candidate] claims:{e} constants:{@FixedConstant|b|i:|n|s|[*]} doc:s|0 draw:{@Draw} each:{e}
  functions:{@Function} let:{e} memory:@Memory|0 metadata:@Metadata|0 name!:s narration:@Narration|0 outside:@Outside|0
  predicts:b remember:[@Write] score:e|0 spec!:=agent/v1
Narration by:s|0 claims:i0:16 declares:s|0 requests:@Requests steps:i1:16 vary!:[s]
Outside command:[s]|0 deadline_ms:i1:600000 environment:[s] python:s|0 start_ms:i0:600000
Requests expiry_ms:i1:864000000|0 max_calls:i1:1000|0 per_ms:i1:86400000|0
# discovery
Document doc:s|0 escalation:@Escalation expect:[s] held_out:@HeldOut iterations:i1:100000 lag:i1:1000
  memory:@MemoryLimits metadata:@Metadata|0 model!:s name!:s prompt!:s proposer:@Proposer ranking!:s
  redundancy:@Redundancy request:@Request seed:i0:9007199254740991 spec!:=discovery/v1 stop:@Stop templates!:[s]
  trial:@Effort universe!:s
Effort T:i1:200 cases:i1:10000 mutations:i0:100000
Escalation T:i1:200 cases:i1:10000 every:i1:9007199254740991 mutations:i0:100000
HeldOut cases:i1:10000 mutants:i0:4096 mutations:i0:100000 universes:[s]
MemoryLimits max_accepted:i1:10000 max_counterexamples:i1:10000 max_falsified:i1:10000 max_unknown:i1:10000
Proposer add_to_redundancy_filter:b include_counterexamples:b max_token_budget:i1:10000000 strict_parsing:b
Redundancy equivalent:b threshold:n|s
Request count:i1:100 exclude_templates:[s]|0 target_templates:[s]|0 temperature:n|s|0
Stop accepted:i1:9007199254740991|0 dry:i1:9007199254740991|0 evaluations:i1:9007199254740991|0
  tokens:i1:9007199254740991|0
# drift
Document at!:e constants:{@FixedConstant|b|i:|n|s|[*]} doc:s|0 draw:{@Draw}
  effects!:[@SetEffect|@AppendEffect|@RemoveEffect|@EachEffect|@PutEffect] functions:{@Function} metadata:@Metadata|0
  name!:s spec!:=drift/v1 when:e
# governor
Admission document!:s env!:e free:{@Grant} grants:{@Grant} key:@Key|0 ms_per_tick:i1:1000000 public:s|0
  signature:=secret|=ed25519 vocabulary!:s watchdog_ms:i1:600000
Choice maximise!:e
Document admission:@Admission|0 choose!:@Choice claims:{s|@Schema} constants:{@FixedConstant|b|i:|n|s|[*]} cost:{e}
  doc:s|0 each:{e} functions:{@Function} gates!:[@Gate] invariants:[s] let:{e} memory:@Memory|0 metadata:@Metadata|0
  name!:s potentials:{@Potential} remember:[@Write] spec!:=governor/v1 supply:{e}
Gate deny:e|0 id!:s reason!:s require:e|0 when:e witness:{e}
Grant allowed_ops!:[s] expiry_ms!:i1:864000000 max_calls!:i1:1000 per_ms!:i1:86400000
Key file:s|0 variable:s|0
Potential is!:e
# invariant
Document constants:{@FixedConstant|b|i:|n|s|[*]} doc:s|0 functions:{@Function} metadata:@Metadata|0 name!:s require!:e
  scope:=step|=episode|=proposal severity:=fatal|=warn spec!:=invariant/v1 when:e witness:{e}
# law
CapabilityRequirements generator_families:[s] primitive_observables:[s] transforms:[s]
Document bound_op:===|=!=|=<|=<=|=>|=>=|0 bound_value:i-9007199254740991:9007199254740991|0
  capability_requirements:@CapabilityRequirements cases:i1:10000 claim:s|0 claim_ast:{*}|0 direction:=<=|=>=|0 doc:s|0
  expect:@Expectation|0 forbidden!:s law_id:s|0 metadata:@Metadata|0 mutations:i0:100000 name!:s
  observables:[@Observable] preconditions:[@Precondition|e] proposed_tests:[@ProposedTest] quantifiers:@Quantifiers
  result_op:===|=!=|0 result_symbol:s|0 schema_version:=1.0.0 seed:i0:9007199254740991 spec!:=law/v1 starts:@Starts|0
  strict:b template!:s transform:s|0 trigger_symbol:s|0 universe!:s
Expectation reason:s|0 status!:=PROVED|=PASS|=FAIL|=UNKNOWN
Observable expr!:e name!:s
Precondition lhs!:e op!:===|=!=|=<|=<=|=>|=>= rhs!:e
ProposedTest family!:s
Quantifiers H:i0:9007199254740991|0 T:i1:9007199254740991
# model
Cassette file!:s records!:s
Document cassette:@Cassette|0 doc:s|0 enumerate:@Grammar|0 gemini:@GeminiConfig|0 metadata:@Metadata|0 name!:s
  scripted:@Script|0 spec!:=model/v1
GeminiConfig deadline_ms:i100:3600000 json_mode:b max_output_tokens:i1:1048576 model:s retries:i0:10 temperature:n|s
  thinking_budget:i-1:1048576|0 top_k:i1:1000 top_p:n|s
Grammar grammar!:{[*]} start!:s
Rule answer!:@ScriptedFailure|@ScriptedText|@ScriptedLaws when!:e
Script answers:[@ScriptedFailure|@ScriptedText|@ScriptedLaws] rules:[@Rule] then:=exhausted|=repeat|=cycle
ScriptedFailure detail:s
  failure!:=blocked|=empty|=withheld|=truncated|=malformed|=timed_out|=refused|=cut_off|=rate_limited|=unavailable|=unauthorised|=invalid|=redirected|=too_large|=exhausted
  text:s|0
ScriptedLaws laws!:[{*}] times:i1:10000000
ScriptedText text!:s times:i1:10000000
# probe
Arms placebo:i0:64 same:i0:64
Challenge arms:@Arms demand:[=reveal|=trace|=restate] draw:@Draw of!:=claims|=counterfactuals|=unused|=declared
  on:=here|=fresh repeats:i1:64
Document at!:=before_propose|=after_commit|=after_token|=after_act challenge:@Challenge|0 doc:s|0 expect!:e
  metadata:@Metadata|0 name!:s offer:@Offer|0 spec!:=probe/v1 steps:i1:1000|0 when:e
Draw least:i1:64 most:i1:64
Offer breaches!:s does!:=omit_snapshots|=execute_raw|=reuse_token
  pays!:[@SetEffect|@AppendEffect|@RemoveEffect|@EachEffect|@PutEffect]
# profile
Control checks:[s] evidence:[@EvidenceCheck] id!:s says!:s section!:s
  status!:=shown|=differs|=open|=deferred|=not~applicable waiver:@Waiver|0 why:s|0
Document controls!:[@Control] doc:s|0 metadata:@Metadata|0 name!:s source!:s spec!:=profile/v1
EvidenceCheck check:s|0 kind:=scenario|=suite|=law|=discovery|0 of:s|0 receipts:s|0 require:e|0 verified:s|0 when:e|0
Waiver owner!:s reason!:s until!:s
# prompt
Document doc:s|0 dynamic:[@Memory] metadata:@Metadata|0 name!:s scramble:[=symbols|=names] spec!:=prompt/v1
  static!:[@Section] system!:[@Section] universe:s|0
Memory each!:=accepted_laws|=falsified_laws|=unknown_laws|=counterexamples item!:s none:s|0 text:s|0
Section each:s|0 item:s|0 none:s|0 text:s|0
# ranking
Document constants:{@FixedConstant|b|i:|n|s|[*]} doc:s|0 factors!:{@Factor} functions:{@Function} let:{e}
  metadata:@Metadata|0 name!:s sensitivity:n|s spec!:=ranking/v1
Factor doc:s|0 least:n|s most:n|s rules:[@Rule] start:n|s subtract:b weight!:n|s
Rule add!:n|s doc:s|0 per:e|0 share:e|0 when:e|0
# scenario
Connect blocked!:[s] connect!:[s]
Document agent!:s commit:=proposals|=none doc:s|0 drift:[s] episodes:i1:100000 governor!:s horizon!:i1:1000000
  invariants:[s] map:@Map|0 metadata:@Metadata|0 name!:s probes:[s] seed:i0:9007199254740991 spec!:=scenario/v1
  start:{e} until:e|0 world!:s
Fill border:s|0 fill!:s height!:i3:256 width!:i3:256
Map drawing:s|0 generate:[@Fill|@Maze|@Scatter|@Place|@Stamp|@Connect]|0 vary:=run|=episode
Maze loops:i0:4096 maze!:s
Place beyond:i0:510|0 columns:[i0:255]|0 of:s|0 over!:s place!:s rows:[i0:255]|0 within:i0:510|0
Scatter count!:i0:65536 over!:s scatter!:s
Stamp columns:[i0:255]|0 over!:s rows:[i0:255]|0 stamp!:[s]
# suite
Arm agent:s|0 drift:[s]|0 governor:s|0 invariants:[s]|0 scenarios!:[s] seeds:[i0:9007199254740991] set:{*} world:s|0
Check doc:s|0 id!:s opportunities!:e require!:e witness:{e}
Document checks:[@Check] constants:{@FixedConstant|b|i:|n|s|[*]} doc:s|0 figures:{@Figure} functions:{@Function}
  measures:{e} metadata:@Metadata|0 mutants:[@Mutant] name!:s replay:=bytes|=none resamples:i99:9999 runs:{@Arm}
  seed:i0:9007199254740991 spec!:=suite/v1 tuned_on:[i0:9007199254740991]
Figure along:e at:n|s by:=arm|=scenario|=seed|=run|0 difference:e|0 doc:s|0 greatest:e|0 least:e|0 mean:e|0 over:s|[s]|0
  quantile:e|0 rate:e|0 slope:e|0 sum:e|0
Mutant agent:s|0 arms:[s]|0 doc:s|0 drift:[s]|0 governor:s|0 id!:s invariants:[s]|0 replay:=bytes|=none|0
  scenarios:[s]|0 set:{*} suite:s|0 under:{*} world:s|0
# template
Document antecedent:{*}|0 claim!:{*} doc:s|0 for_all!:@ForAll holds:{*}|0 metadata:@Metadata|0 name!:s needs:[s]
  parts:{@Part} spec!:=template/v1 within:=H|0
ForAll i:=cells|0 t!:@Steps
Part reads!:[=t|=t~+~1|=fixed] sort:=int|=bool
Steps from:i0:1 to:=T|=T~-~1
# universe
Document alphabet!:[s] doc:s|0 empty:s|0 generators!:{@Generator} interaction:s|0 metadata:@Metadata|0 name!:s
  observables!:{@Primitive} ring!:@Ring spec!:=universe/v1 starts:@Starts transforms:{@Transform}
  transition!:@Transition
Generator beyond:s|0 first:i0:1000 gaps:[i0:1000]|0 make!:=sweep|=pairs|=edges|=images|=mutations|=patterns|=extremes
  percents:[i0:100]|0 transforms:[s]|0 weight:i0:1000
Primitive args:{=symbol|=int} count:e|0 scan:=first|=last|=longest|=extent|0 sum:e|0 where:e|0 window:[s]|e|0
Ring max!:i1:1000 min!:i1:1000 sizes:[i1:1000]|0
Transform args:{=int} default:{i:} map:{s} reflect:b shift:e
Transition let:{e} next:e|0 number:i0:255|0 table:{s}|0
# vocabulary
Document doc:s|0 forms!:[s] metadata:@Metadata|0 name!:s spec!:=vocabulary/v1
# world
Action args:{s|@Schema} effects:[@SetEffect|@AppendEffect|@RemoveEffect|@EachEffect|@PutEffect] let:{e}
  otherwise:[@SetEffect|@AppendEffect|@RemoveEffect|@EachEffect|@PutEffect] outcome:{e} when:e
Attempts as!:s effects!:[@SetEffect|@AppendEffect|@RemoveEffect|@EachEffect|@PutEffect] for!:e require:e
Chart of!:s unit:i1:
Condition id!:s message:s|0 require!:e
Coupling action!:s args:{e} let:{e}
Document actions!:{@Action} alternatives:{e} constants:{@FixedConstant|b|i:|n|s|[*]} context:{e} derived:{e} doc:s|0
  drawing:@Drawing|0 every_step:[@SetEffect|@AppendEffect|@RemoveEffect|@EachEffect|@PutEffect] functions:{@Function}
  inputs:{s|@Schema} labels:{e} metadata:@Metadata|0 name!:s observe:{e} opening:{e} parts:{@Part} picture:@Picture|0
  receipt:{e} record:{e} spec!:=world/v1 start:{e} state!:{s|@Schema} success:e|0 types:{s|@Schema}
  variables:{@Variable} well_formed:[@Condition]
Drawing cells:s|0 height:s|0 legend!:{@Glyph} width:s|0
Glyph cell:e|0 effects:[@SetEffect|@AppendEffect|@RemoveEffect|@EachEffect|@PutEffect]
Part follow!:{@Coupling} start:{e} world!:s
Picture cells!:s charts:{s|@Chart} colours!:{s|@Shades} tokens:{@Token}
Shades dark!:s light!:s
Token colour!:s|@Shades each:s|0 shape:=disc|=diamond|=square start!:s
Variable effects:[@SetEffect|@AppendEffect|@RemoveEffect|@EachEffect|@PutEffect]|0 normal:e|0 over:e|0 read!:e require:e
  try:@Attempts|0
"""
