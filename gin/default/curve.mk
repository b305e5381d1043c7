# ROUGE of HiBERT and ETCSum against documents seen, from MiniLM on.
#
#   make -f gin/default/curve.mk NEWS=FOLDER
#
# Both models see the same documents, eight an update, and choose on those for
# choosing. Settings and files are those of `train.mk`; besides:
#
#   SIZES   updates at which a model is measured

.PHONY: curve
curve:
include gin/default/train.mk

SIZES ?= 125 250 500 1000
CURVE := $(RUN)/curve
CHOSEN := $(foreach model,hibert etcsum,\
  $(foreach size,$(SIZES),$(CURVE)/$(model)-$(size).jsonl))

# Bundles between a training and its choices.
.SECONDARY:
# A run grows from size to size: one after another.
.NOTPARALLEL:
curve: benchmarks/results/curve.json

# bundle MODEL, INIT, SIZE: what the run is after so many updates.
define bundle
$(CURVE)/$(1)-$(3)/config.json: $(RUN)/drawn.jsonl $(RUN)/$(2)/config.json
	$(STEPWISE) train $(RUN)/drawn-short.jsonl --output $(CURVE)/$(1) \
	  --gin gin/default/curve_$(1).gin --steps $(3) --init $(RUN)/$(2) \
	  --set TrainConfig.seed=$(SEED) $(FLAGS)
	cp -r $(CURVE)/$(1)/bundle $(CURVE)/$(1)-$(3)
endef
$(foreach size,$(SIZES),$(eval $(call bundle,hibert,init,$(size))))
$(foreach size,$(SIZES),$(eval $(call bundle,etcsum,etcsum-init,$(size))))

$(CURVE)/%.jsonl: $(CURVE)/%/config.json $(RUN)/select.jsonl
	$(STEPWISE) infer $(CURVE)/$* $(RUN)/select.jsonl $@ --sentences 3 \
	  --trigram-blocking

benchmarks/results/curve.json: $(CHOSEN) $(RUN)/select.jsonl
	$(STEPWISE) evaluate $(firstword $(CHOSEN)) $(RUN)/select.jsonl \
	  $(filter-out $(firstword $(CHOSEN)),$(CHOSEN)) lead:3 --save-json $@
